// Strict: what a calibration says becomes prices, so nothing in it is guessed or passed over.

#include "base/text/json_cursor.h"
#include "base/text/read_file.h"
#include "learning/calibration.h"
#include "learning/calibration_versions.h"
#include "learning/domain_json.h"
#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr std::size_t largestFile = 256u << 20;
constexpr std::size_t mostSections = 4096, mostDevices = 4096;

void require(JsonCursor& json, bool there, std::string_view name) {
    if (json.ok() && !there) json.fail("missing", fmt::format("'{}' is missing", name), fmt::format("\"{}\": …", name));
}

double positive(JsonCursor& json, bool orZero) {
    const double value = json.number();
    if (json.ok() && (orZero ? value < 0 : value <= 0)) {
        json.fail("range", fmt::format("{} is too small", value), orZero ? "0 or more" : "a number above 0");
    }
    return value;
}

DeviceFingerprint readDevice(JsonCursor& json) {
    DeviceFingerprint device;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "id")
            device.id = json.text();
        else if (key == "sms")
            device.sms = positive(json, false);
        else if (key == "clock")
            device.clock = positive(json, true);
        else if (key == "dram_bandwidth")
            device.dramBandwidth = positive(json, true);
        else if (key == "l2_bytes")
            device.l2Bytes = positive(json, true);
        else if (key == "matrix_peak")
            device.matrixPeak = positive(json, true);
        else if (key == "vector_peak")
            device.vectorPeak = positive(json, true);
        else
            json.skip();
    }
    require(json, device.sms > 0, "sms");
    return device;
}

ResidualClass readClass(JsonCursor& json) {
    ResidualClass one;
    one.upperSeconds = std::numeric_limits<double>::infinity();
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "upper_seconds") {
            if (!json.null()) one.upperSeconds = positive(json, false);
        } else if (key == "p5")
            one.p5 = json.number();
        else if (key == "p50")
            one.p50 = json.number();
        else if (key == "p95")
            one.p95 = json.number();
        else if (key == "mean_absolute")
            one.meanAbsolute = positive(json, true);
        else if (key == "rows")
            one.rows = json.integer();
        else
            json.skip();
    }
    if (json.ok() && !(one.p5 <= one.p50 && one.p50 <= one.p95 && std::abs(one.p5) < 100 && std::abs(one.p95) < 100)) {
        json.fail("residuals", "quantiles of residuals are not in order",
                  "p5 ≤ p50 ≤ p95, of ln(measured ÷ predicted)");
    }
    return one;
}

CalibrationSource readSource(JsonCursor& json) {
    CalibrationSource source;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "name")
            source.name = json.text();
        else if (key == "software")
            source.software = json.text();
        else if (key == "licence")
            source.licence = json.text();
        else if (key == "hash")
            source.hash = json.text();
        else if (key == "rows")
            source.rows = json.integer();
        else
            json.skip();
    }
    return source;
}

RegressorPtr readModel(JsonCursor& json) {
    RegressorPtr model;
    std::string_view key, kind;
    for (json.object(); json.key(key);) {
        if (key == "kind") {
            kind = json.text();
        } else if (key == "value") {
            require(json, !kind.empty(), "kind");
            if (json.ok()) model = readRegressor(kind, json);
        } else {
            json.skip();
        }
    }
    require(json, model != nullptr, "value");
    return model;
}

CalibrationSection readSection(JsonCursor& json) {
    CalibrationSection section;
    std::string_view key;
    bool kind = false, variant = false;
    for (json.object(); json.key(key);) {
        if (key == "kind") {
            const auto text = json.text();
            const auto known = kernelKind(text);
            if (json.ok() && !known) {
                json.fail("unknown-kind", fmt::format("there is no kind of kernels '{}'", text),
                          "gemm, prefill-attention, decode-attention, elementwise, …",
                          "The file may come from a newer version.");
            }
            section.kind = known.value_or(KernelKind::Other);
            kind = true;
        } else if (key == "variant") {
            section.variant = json.text();
            variant = true;
        } else if (key == "device") {
            if (!json.null()) section.device = readDevice(json);
        } else if (key == "devices") {
            for (json.array(); json.element();) {
                section.devices.push_back(readDevice(json));
                if (section.devices.size() > mostDevices)
                    json.fail("too-large", fmt::format("more than {} devices", mostDevices));
            }
        } else if (key == "spread") {
            if (!json.null()) section.spread = readModel(json);
        } else if (key == "widen") {
            const auto widen = json.numbers(2);
            if (json.ok() && (widen.size() != 2 || widen[0] < 1 || widen[1] < widen[0] || widen[1] > 100)) {
                json.fail("range", "widening of intervals at the edge and outside",
                          "two numbers, 1 or more, the second not below the first");
            }
            if (json.ok()) section.widenEdge = widen[0], section.widenOutside = widen[1];
        } else if (key == "parameters") {
            for (json.object(); json.key(key);) {
                std::string name(key);
                section.parameters[std::move(name)] = json.number();
            }
        } else if (key == "features") {
            for (json.array(); json.element();) {
                section.features.emplace_back(json.text());
                if (section.features.size() > largestInputs)
                    json.fail("too-large", fmt::format("more than {} features", largestInputs));
            }
        } else if (key == "model") {
            if (!json.null()) section.model = readModel(json);
        } else if (key == "domain") {
            if (!json.null()) section.domain = readDomain(json);
        } else if (key == "residuals") {
            for (json.array(); json.element();) section.residuals.push_back(readClass(json));
        } else if (key == "correlation") {
            section.correlation = json.number();
            if (json.ok() && !(section.correlation >= 0 && section.correlation <= 1)) {
                json.fail("range", fmt::format("a correlation of {}", section.correlation), "0 to 1");
            }
        } else if (key == "sources") {
            for (json.array(); json.element();) section.sources.push_back(readSource(json));
        } else if (key == "split") {
            section.split = json.text();
        } else {
            json.skip();
        }
    }
    require(json, kind, "kind");
    require(json, variant, "variant");
    if (!json.ok()) return section;
    const std::size_t features = section.features.size();
    if (section.model && section.model->inputs() != features) {
        json.fail("features",
                  fmt::format("the model asks for {} numbers, the section names {} features", section.model->inputs(),
                              features),
                  "as many features as the model has inputs");
    } else if (section.spread && section.spread->inputs() != features) {
        json.fail("features",
                  fmt::format("the spread asks for {} numbers, the section names {} features", section.spread->inputs(),
                              features),
                  "as many features as the spread has inputs");
    } else if (section.domain && section.domain->mean.size() != features) {
        json.fail(
            "features",
            fmt::format("the domain has {} features, the section names {}", section.domain->mean.size(), features),
            "a domain over the same features");
    }
    for (std::size_t i = 1; i < section.residuals.size(); ++i) {
        if (!(section.residuals[i - 1].upperSeconds < section.residuals[i].upperSeconds)) {
            json.fail("residuals", "classes of residuals are not in order", "growing upper_seconds, null at the last");
        }
    }
    return section;
}

}  // namespace

Expected<Calibration> parseCalibration(std::string_view text, const std::string& name) {
    JsonCursor json(text, name, "calibration");
    Calibration calibration;
    bool format = false, sections = false;
    std::int64_t version = 0;
    std::string_view key;
    for (json.object(); json.key(key);) {
        if (key == "format") {
            format = json.text() == "orrery-calibration";
            if (json.ok() && !format)
                json.fail("other-format", "not a calibration", R"("format": "orrery-calibration")");
        } else if (key == "version") {
            version = json.integer();
            if (json.ok() && version > calibrationVersion) {
                json.fail("newer-version", fmt::format("version {} is newer than this program knows", version),
                          fmt::format("version {} or older", calibrationVersion), "Update Orrery, or calibrate again.");
            } else if (json.ok() && version < 1) {
                json.fail("range", fmt::format("there is no version {}", version), "1 or more");
            }
        } else if (key == "method")
            calibration.method = json.text();
        else if (key == "method_version")
            calibration.methodVersion = json.text();
        else if (key == "date")
            calibration.date = json.text();
        else if (key == "note")
            calibration.note = json.text();
        else if (key == "sections") {
            sections = true;
            // Sections of an unknown format would be blamed for what is not theirs.
            if (!format)
                json.fail("other-format", "not a calibration", R"("format": "orrery-calibration" before the sections)");
            for (json.array(); json.element();) {
                calibration.sections.push_back(readSection(json));
                if (calibration.sections.size() > mostSections)
                    json.fail("too-large", fmt::format("more than {} sections", mostSections));
            }
        } else
            json.skip();
    }
    if (json.ok() && !format) json.fail("other-format", "not a calibration", R"("format": "orrery-calibration")");
    require(json, version > 0, "version");
    require(json, !calibration.method.empty(), "method");
    require(json, sections, "sections");
    json.end();
    if (!json.ok()) return tl::unexpected(json.problem());
    detail::bringUpToDate(calibration, static_cast<int>(version));
    return calibration;
}

Expected<Calibration> readCalibration(const std::string& file) {
    const auto text = readFile(file, {.most = largestFile,
                                      .code = "calibration.unreadable",
                                      .tooLarge = "calibration.too-large",
                                      .expected = "a calibration, *.json"});
    if (!text) return tl::unexpected(text.error());
    return parseCalibration(*text, file);
}

}  // namespace orrery
