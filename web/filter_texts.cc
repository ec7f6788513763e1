#include "web/filter_texts.h"

#include <array>

namespace halite::web {

namespace {

constexpr std::array kTexts = {
    FilterText{
        "literal_or",
        "host=literal_or(web01),  host=literal_or(web01|web02|web03)  "
        "{\"type\":\"literal_or\",\"tagk\":\"host\",\"filter\":\"web01|web02|web03\",\"groupB"
        "y\":false}",
        "Accepts one or more exact values and matches if the series contains any of them. "
        "Multiple values can be included and must be separated by the | (pipe) character. "
        "The filter is case sensitive and will not allow characters that TSDB does not allow "
        "at write time."},
    FilterText{
        "iliteral_or",
        "host=iliteral_or(web01),  host=iliteral_or(web01|web02|web03)  "
        "{\"type\":\"iliteral_or\",\"tagk\":\"host\",\"filter\":\"web01|web02|web03\",\"group"
        "By\":false}",
        "Accepts one or more exact values and matches if the series contains any of them. "
        "Multiple values can be included and must be separated by the | (pipe) character. "
        "The filter is case insensitive and will not allow characters that TSDB does not "
        "allow at write time."},
    FilterText{
        "not_literal_or",
        "host=not_literal_or(web01),  host=not_literal_or(web01|web02|web03)  "
        "{\"type\":\"not_literal_or\",\"tagk\":\"host\",\"filter\":\"web01|web02|web03\",\"gr"
        "oupBy\":false}",
        "Accepts one or more exact values and matches if the series does NOT contain any of "
        "them. Multiple values can be included and must be separated by the | (pipe) "
        "character. The filter is case sensitive and will not allow characters that TSDB "
        "does not allow at write time."},
    FilterText{
        "not_iliteral_or",
        "host=not_iliteral_or(web01),  host=not_iliteral_or(web01|web02|web03)  "
        "{\"type\":\"not_iliteral_or\",\"tagk\":\"host\",\"filter\":\"web01|web02|web03\",\"g"
        "roupBy\":false}",
        "Accepts one or more exact values and matches if the series does NOT contain any of "
        "them. Multiple values can be included and must be separated by the | (pipe) "
        "character. The filter is case insensitive and will not allow characters that TSDB "
        "does not allow at write time."},
    FilterText{
        "wildcard",
        "host=wildcard(web*),  host=wildcard(web*.tsdb.net)  "
        "{\"type\":\"wildcard\",\"tagk\":\"host\",\"filter\":\"web*.tsdb.net\",\"groupBy\":fa"
        "lse}",
        "Performs pre, post and in-fix glob matching of values. The globs are case sensitive "
        "and multiple wildcards can be used. The wildcard character is the * (asterisk). At "
        "least one wildcard must be present in the filter value. A wildcard by itself can be "
        "used as well to match on any value for the tag key."},
    FilterText{
        "iwildcard",
        "host=iwildcard(web*),  host=iwildcard(web*.tsdb.net)  "
        "{\"type\":\"iwildcard\",\"tagk\":\"host\",\"filter\":\"web*.tsdb.net\",\"groupBy\":f"
        "alse}",
        "Performs pre, post and in-fix glob matching of values. The globs are case "
        "insensitive and multiple wildcards can be used. The wildcard character is the * "
        "(asterisk). Case insensitivity is achieved by dropping all values to lower case. At "
        "least one wildcard must be present in the filter value. A wildcard by itself can be "
        "used as well to match on any value for the tag key."},
    FilterText{
        "regexp",
        "host=regexp(.*)  "
        "{\"type\":\"regexp\",\"tagk\":\"host\",\"filter\":\".*\",\"groupBy\":false}",
        "Provides full, POSIX compliant regular expression using the built in Java Pattern "
        "class. Note that an expression containing curly braces {} will not parse properly "
        "in URLs. If the pattern is not a valid regular expression then an exception will be "
        "raised."},
};

}  // namespace

std::span<const FilterText> filter_texts() { return kTexts; }

}  // namespace halite::web
