"""The description docs/openapi.yaml as contract_test.py uses it: values that mean something to the
server, and copies of the description that are stricter or nearer to what the server knows."""

import copy
import pathlib

import schemathesis
import yaml
from hypothesis import strategies as st

SPEC = yaml.safe_load(
    (pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "openapi.yaml").read_text())
METHODS = ("get", "post", "put", "delete", "head", "patch")
T = 1356998400  # around which points are stored

# ---- values that mean something to the server ---------------------------------------------------

def mostly(good, bad):
    """Each good value is drawn as often as all bad ones together."""
    return st.sampled_from([one for one in good for _ in bad] + bad)


def joined(*parts):
    return st.tuples(*parts).map("".join)


metrics = mostly(["sys.cpu.user", "sys.mem", "app.latency"], ["no.such", "m-_./ü", "a b"])
tag_keys = mostly(["host", "dc"], ["nosuch"])
tag_values = mostly(["web01", "web02", "lga", "*"], ["web*", "web01|web02", "regexp(w.*)", ""])
tsuids = mostly(["000001000001000001", "000001000001000002000002000001"],
                ["000002000001000001", "00000100000100000100000200000F", "0", "xyz", ""])
aggregators = mostly(["sum", "avg", "none"], ["min", "count", "p99", "zimsum", "nosuch"])
times = mostly(
    [str(T), str(T * 1000), "now", "1h-ago", "2013/01/01", "2013/01/01-00:10", str(T + 600)],
    ["nonsense", "0", "2013/01/01 00:00:30", "5y-ago", "1356998400.250"])
downsamplers = mostly(["1m-avg", "10s-sum-nan", "0all-max", "1h-count-zero", "1dc-sum"],
                      ["1n-avg-null", "500ms-min", "1x-avg", "1m-nosuch", "60m-"])
braces = st.one_of(st.just(""), st.just("{}"),
                   joined(st.just("{"), tag_keys, st.just("="), tag_values, st.just("}")))
series = joined(metrics, braces)
parts_of_m = st.lists(
    st.one_of(downsamplers, mostly(["rate", "rate{counter,100}", "explicit_tags"],
                                   ["pre-agg", "percentiles[50,99]", "rollup_raw", ""])),
    max_size=2).map(lambda parts: "".join(part + ":" for part in parts))
m_queries = joined(aggregators, st.just(":"), parts_of_m, series, st.one_of(st.just(""), braces))
tsuid_queries = joined(aggregators, st.just(":"), parts_of_m, tsuids)
gexps = st.one_of(
    joined(mostly(["absolute", "sumSeries", "difference"], ["nosuch"]), st.just("("), m_queries,
           st.just(")")),
    joined(st.sampled_from(["scale", "highestMax", "movingAverage", "shift"]), st.just("("),
           m_queries, mostly([",10)", ",'10min')"], [",x)", ")"])))

for name, strategy in {
        "time": times, "metric": metrics, "tagk": tag_keys, "tagv": tag_values, "tsuid": tsuids,
        "series": series, "m": m_queries, "m-tsuid": tsuid_queries, "gexp": gexps,
        "aggregator": aggregators, "downsample": downsamplers,
        "timezone": mostly(["UTC", "Europe/Berlin"], ["No/Such", ""])}.items():
    schemathesis.openapi.format(f"halite-{name}", strategy)


@schemathesis.serializer("application/x-protobuf")
def protobuf(_, value):
    """Any bytes: they are no message, or an empty one."""
    return value if isinstance(value, bytes) else str(value).encode()


# ---- the description ----------------------------------------------------------------------------

def close_objects(node):
    """Answers must not have fields that the description does not name."""
    if isinstance(node, list):
        for each in node:
            close_objects(each)
    elif isinstance(node, dict):
        if isinstance(node.get("properties"), dict) and "additionalProperties" not in node:
            node["additionalProperties"] = False
        for each in node.values():
            close_objects(each)


def strict(spec):
    """The description with closed answers. What requests use stays open."""
    spec = copy.deepcopy(spec)
    schemas = spec["components"]["schemas"]
    wanted, seen = [], set()

    def references(node):
        if isinstance(node, list):
            for each in node:
                yield from references(each)
        elif isinstance(node, dict):
            if str(node.get("$ref", "")).startswith("#/components/schemas/"):
                yield node["$ref"].rsplit("/", 1)[1]
            for each in node.values():
                yield from references(each)

    answers = [spec["components"]["responses"]]
    answers += [operation["responses"] for _, _, operation in operations(spec)]
    for node in answers:
        close_objects(node)
        wanted += references(node)
    while wanted:
        used = wanted.pop()
        if used in seen:
            continue
        seen.add(used)
        close_objects(schemas[used])
        wanted += references(schemas[used])
    return spec


def near(spec):
    """Returns the description with narrower value ranges, so that generated requests often name
    existing data. It forbids unnamed fields, which the server ignores, and requires the parameters
    without which a query fails. Only /api/annotation keeps the method override."""
    spec = copy.deepcopy(spec)
    close_objects([operation.get("requestBody", {}) for _, _, operation in operations(spec)])
    close_objects(spec["components"]["schemas"])
    schemas, parameters = spec["components"]["schemas"], spec["components"]["parameters"]
    query, sub_query = schemas["Query"]["properties"], schemas["SubQuery"]
    del query["delete"], sub_query["properties"]["tsuids"]
    query["queries"]["maxItems"] = sub_query["properties"]["filters"]["maxItems"] = 2
    sub_query["required"].append("metric")
    parameters["M"]["required"] = True
    parameters["M"]["schema"].update(minItems=1, maxItems=2)
    parameters["TsuidQuery"]["schema"].update(maxItems=1)

    def narrow(node):
        if isinstance(node, list):
            for each in node:
                narrow(each)
        elif isinstance(node, dict):
            for key, maximum in (("treeid", 2), ("treeId", 2), ("level", 1), ("order", 1)):
                schema = node.get(key) if key in node else (
                    node.get("schema") if node.get("name") == key else None)
                if isinstance(schema, dict) and "maximum" in schema:
                    schema["maximum"] = maximum
            for each in node.values():
                narrow(each)

    narrow(spec)
    override = "#/components/parameters/MethodOverride"
    for path, _, operation in operations(spec):
        if path != "/api/annotation" and "parameters" in operation:
            operation["parameters"] = [
                one for one in operation["parameters"] if one.get("$ref") != override]
    return spec


def operations(spec):
    for path, item in spec["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]
