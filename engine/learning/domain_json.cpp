#include "learning/domain_json.h"

#include "learning/trees.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

namespace {

double distance(JsonCursor& json) {
    const double value = json.number();
    if (json.ok() && value < 0) json.fail("range", fmt::format("{} is too small", value), "0 or more");
    return value;
}

std::string numbers(const std::vector<double>& values) {
    std::string out = "[";
    for (const double each : values)
        out += (out.size() > 1 ? ", " : "") + (std::isfinite(each) ? fmt::format("{:.6g}", each) : "null");
    return out + "]";
}

}  // namespace

std::shared_ptr<const Domain> readDomain(JsonCursor& json) {
    auto domain = std::make_shared<Domain>();
    std::string_view key;
    bool edge = false, outside = false;
    for (json.object(); json.key(key);) {
        if (key == "low")
            domain->low = json.numbers(largestInputs);
        else if (key == "high")
            domain->high = json.numbers(largestInputs);
        else if (key == "margin")
            domain->margin = json.numbers(largestInputs);
        else if (key == "mean")
            domain->mean = json.numbers(largestInputs);
        else if (key == "whitening")
            domain->whitening = json.numbers(largestInputs * (largestInputs + 1) / 2);
        else if (key == "edge")
            edge = true, domain->edge = distance(json);
        else if (key == "outside")
            outside = true, domain->outside = distance(json);
        else
            json.skip();
    }
    for (const auto& [there, name] : {std::pair{edge, "edge"}, {outside, "outside"}}) {
        if (json.ok() && !there)
            json.fail("missing", fmt::format("'{}' is missing", name), fmt::format("\"{}\": …", name));
    }
    const std::size_t size = domain->mean.size();
    if (json.ok() && (domain->low.size() != size || domain->high.size() != size || domain->margin.size() != size ||
                      domain->whitening.size() != size * (size + 1) / 2)) {
        json.fail("domain", "low, high, margin, mean and whitening of the domain do not belong together",
                  "one number per feature, and n·(n + 1) ⁄ 2 of whitening");
    }
    for (std::size_t i = 0; json.ok() && i < size; ++i) {
        if (domain->low[i] > domain->high[i])
            json.fail("domain", fmt::format("range {} of the domain is empty", i), "low ≤ high");
    }
    return domain;
}

std::string domainJson(const Domain& domain) {
    return fmt::format(
        "{{\"low\": {},\n        \"high\": {},\n        \"margin\": {},\n        \"mean\": {},\n        \"whitening\": "
        "{},\n        \"edge\": {:.6g}, \"outside\": {:.6g}}}",
        numbers(domain.low), numbers(domain.high), numbers(domain.margin), numbers(domain.mean),
        numbers(domain.whitening), domain.edge, domain.outside);
}

}  // namespace orrery
