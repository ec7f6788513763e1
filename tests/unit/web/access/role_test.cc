#include "web/access/role.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(Roles, AreReadAsAList) {
  const Result<Roles> both = parse_roles("read, write");
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->may(Role::kRead));
  EXPECT_TRUE(both->may(Role::kWrite));
  EXPECT_FALSE(both->may(Role::kAdmin));
  EXPECT_TRUE(parse_roles("none")->empty());
  for (const char* wrong : {"", "Read", "read,", "reader", "read write", "all"}) {
    const Result<Roles> roles = parse_roles(wrong);
    ASSERT_FALSE(roles) << wrong;
    EXPECT_EQ(roles.error().code, Errc::kInvalidArgument);
  }
}

TEST(Roles, AnAdministratorMayAllAndNobodyOnlyWhatWantsNoRole) {
  for (const Role role : {Role::kNone, Role::kRead, Role::kWrite, Role::kAdmin}) {
    EXPECT_TRUE(Roles::all().may(role));
    EXPECT_EQ(Roles().may(role), role == Role::kNone);
    EXPECT_TRUE(parse_roles(role_name(role))->may(role));
  }
}

}  // namespace
}  // namespace halite::web
