#include "learning/calibration.h"
#include "learning/domain_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>

namespace orrery {

namespace {

std::string asText(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Six significant digits: less than what any reference repeats itself by. Infinity is null.
std::string number(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

template <class Range, class Print>
std::string list(const Range& range, Print&& print) {
    std::string out = "[";
    for (const auto& one : range) {
        if (out.size() > 1) out += ", ";
        out += print(one);
    }
    return out + "]";
}

std::string deviceJson(const DeviceFingerprint& device) {
    return fmt::format(
        "{{\"id\": {}, \"sms\": {}, \"clock\": {}, \"dram_bandwidth\": {}, \"l2_bytes\": {}, \"matrix_peak\": {}, "
        "\"vector_peak\": {}}}",
        asText(device.id), number(device.sms), number(device.clock), number(device.dramBandwidth),
        number(device.l2Bytes), number(device.matrixPeak), number(device.vectorPeak));
}

std::string toJson(const CalibrationSection& section) {
    std::string out = "{\n";
    auto to = std::back_inserter(out);
    fmt::format_to(to, R"(    "kind": "{}", "variant": {},)", toText(section.kind), asText(section.variant));
    fmt::format_to(to, "\n    \"device\": {},", section.device ? deviceJson(*section.device) : "null");
    if (!section.devices.empty()) {
        fmt::format_to(to, "\n    \"devices\": {},", list(section.devices, [](const DeviceFingerprint& one) {
                           return "\n        " + deviceJson(one);
                       }));
    }
    fmt::format_to(to, "\n    \"split\": {},", asText(section.split));
    fmt::format_to(to, "\n    \"sources\": {},", list(section.sources, [](const CalibrationSource& source) {
                       return fmt::format(R"({{"name": {}, "software": {}, "licence": {}, "hash": {}, "rows": {}}})",
                                          asText(source.name), asText(source.software), asText(source.licence),
                                          asText(source.hash), source.rows);
                   }));
    out += "\n    \"parameters\": {";
    bool first = true;
    for (const auto& [name, value] : section.parameters) {
        fmt::format_to(to, "{}{}: {}", first ? "" : ", ", asText(name), number(value));
        first = false;
    }
    out += "},";
    fmt::format_to(
        to, "\n    \"residuals\": {},", list(section.residuals, [](const ResidualClass& one) {
            return fmt::format(
                "\n        {{\"upper_seconds\": {}, \"p5\": {}, \"p50\": {}, \"p95\": {}, \"mean_absolute\": {}, "
                "\"rows\": {}}}",
                number(one.upperSeconds), number(one.p5), number(one.p50), number(one.p95), number(one.meanAbsolute),
                one.rows);
        }));
    fmt::format_to(to, "\n    \"correlation\": {},", number(section.correlation));
    if (section.widenOutside > 0) {
        fmt::format_to(to, "\n    \"widen\": [{}, {}],", number(section.widenEdge), number(section.widenOutside));
    }
    fmt::format_to(to, "\n    \"features\": {}", list(section.features, [](const auto& name) { return asText(name); }));
    if (section.domain) fmt::format_to(to, ",\n    \"domain\": {}", domainJson(*section.domain));
    const auto model = [&to](std::string_view name, const Regressor* one) {
        if (!one) return;
        fmt::format_to(to, ",\n    \"{}\": {{\"kind\": \"{}\", \"value\": {}}}", name, one->kind(), one->toJson());
    };
    model("model", section.model.get());
    model("spread", section.spread.get());
    return out + "}";
}

}  // namespace

std::string writeCalibration(const Calibration& calibration) {
    return fmt::format(
        "{{\"format\": \"orrery-calibration\", \"version\": {},\n\"method\": {}, \"method_version\": {}, \"date\": "
        "{},\n"
        "\"note\": {},\n\"sections\": {}}}\n",
        calibrationVersion, asText(calibration.method), asText(calibration.methodVersion), asText(calibration.date),
        asText(calibration.note), list(calibration.sections, toJson));
}

}  // namespace orrery
