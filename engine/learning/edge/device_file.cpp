#include "learning/edge/device_file.h"

#include "base/text/json_values.h"
#include "base/text/read_file.h"
#include "learning/edge/space_features.h"
#include "workload/spaces/spaces.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace orrery {

// The numbers of a model and their names in the file.
struct DeviceNumbers {
    static nlohmann::ordered_json written(const DeviceModel& m) {
        return {{"simple", m.simple},
                {"relative", m.relative_},
                {"samples", m.samples},
                {"noise", m.noise},
                {"freedom", m.freedom},
                {"widening", m.widening},
                {"doubt", m.doubt},
                {"drops", m.drops},
                {"left_out", m.leftOut},
                {"scale", m.scale_},
                {"scale_deviation", m.scaleDeviation_},
                {"floor", m.floor_},
                {"centre", m.centre_},
                {"spread", m.spread_},
                {"least", m.least_},
                {"most", m.most_},
                {"weights", m.weights_},
                {"rank", m.rank_},
                {"root", m.root_},
                {"nothing", m.nothing_},
                {"nothing_shares", m.left_.shares},
                {"nothing_low", m.left_.low},
                {"nothing_high", m.left_.high}};
    }
    // Nothing where the lists do not fit each other.
    static std::optional<DeviceModel> read(const JsonValues& json) {
        DeviceModel m;
        m.simple = json.truth("simple", false);
        m.relative_ = json.truth("relative", false);
        m.samples = static_cast<std::size_t>(std::max<std::int64_t>(0, json.whole("samples")));
        m.noise = json.number("noise");
        m.freedom = json.number("freedom", 0);
        m.widening = json.number("widening");
        m.doubt = json.number("doubt", 2);
        m.drops = json.number("drops", 0);
        m.leftOut = json.number("left_out", 0);
        m.scale_ = json.number("scale");
        m.scaleDeviation_ = json.number("scale_deviation");
        m.floor_ = json.number("floor");
        m.centre_ = json.numbers("centre");
        m.spread_ = json.numbers("spread");
        m.least_ = json.numbers("least");
        m.most_ = json.numbers("most");
        m.weights_ = json.numbers("weights");
        m.root_ = json.numbers("root");
        const std::int64_t nothing = json.whole("nothing", 0);  // files before it knew of none
        if (nothing > 0) {
            const auto shares = json.numbers("nothing_shares");
            if (static_cast<std::size_t>(nothing) >= m.centre_.size() || m.centre_.size() % 2 != 0 ||
                m.centre_.size() < 2 * NothingLeft::counts || shares.size() != m.left_.shares.size())
                return std::nullopt;
            std::copy(shares.begin(), shares.end(), m.left_.shares.begin());
            m.nothing_ = static_cast<std::size_t>(nothing);
            m.left_.low = std::min(0.0, json.number("nothing_low"));
            m.left_.high = std::max(0.0, json.number("nothing_high"));
        }
        const std::int64_t rank = json.whole("rank");
        const std::size_t p = m.centre_.size();
        const bool fits = p > 0 && m.spread_.size() == p && m.least_.size() == p && m.most_.size() == p &&
                          m.weights_.size() == p && rank >= 0 && rank <= 100'000 &&
                          m.root_.size() == p * static_cast<std::size_t>(rank);
        if (!fits || !(m.scale_ > 0) || !(m.floor_ > 0) || !(m.noise >= 0) || !(m.widening > 0) || !(m.doubt > 0))
            return std::nullopt;
        m.rank_ = static_cast<std::size_t>(rank);
        return m;
    }
};

namespace {

constexpr std::array<std::string_view, 2> formWords{"words", "operators"};
constexpr std::array<std::string_view, 3> edgeWords{"none", "mean", "attention"};

nlohmann::ordered_json writtenGraph(const GraphFeatures& graphs) {
    const GraphNumbers numbers = GraphNumbers::of(graphs);
    return {{"form", formWords[static_cast<std::size_t>(numbers.form)]},
            {"edges", edgeWords[static_cast<std::size_t>(numbers.edges)]},
            {"centre", numbers.centre},
            {"spread", numbers.spread},
            {"usual", numbers.usual},
            {"parameters", numbers.parameters}};
}

std::optional<GraphFeatures> readGraph(const JsonValues& json, std::string_view space) {
    GraphNumbers numbers;
    const auto form = std::find(formWords.begin(), formWords.end(), json.text("form"));
    const auto edges = std::find(edgeWords.begin(), edgeWords.end(), json.text("edges"));
    if (form == formWords.end() || edges == edgeWords.end()) return std::nullopt;
    numbers.form = static_cast<GraphForm>(form - formWords.begin());
    numbers.edges = static_cast<GraphEdges>(edges - edgeWords.begin());
    for (const auto& [name, to] : {std::pair{"centre", &numbers.centre},
                                   {"spread", &numbers.spread},
                                   {"usual", &numbers.usual},
                                   {"parameters", &numbers.parameters}})
        for (const double each : json.numbers(name)) to->push_back(static_cast<float>(each));
    return numbers.model(space);
}

Unexpected otherNetwork(std::string_view network, std::string expected) {
    return fail("edge.other-network", fmt::format("“{}” is none that this device's file predicts", network.substr(0, 80)),
                std::move(expected));
}

// The code alone; nothing where its space or its input is another one.
std::optional<std::string_view> codeOf(const DeviceFile& file, std::string_view network) {
    const auto colon = network.find(':');
    if (colon == std::string_view::npos) return network;
    const std::string_view own = file.input.empty() ? std::string_view(file.space) : std::string_view(file.input);
    if (network.substr(0, colon) != own) return std::nullopt;
    return network.substr(colon + 1);
}

Expected<std::vector<double>> featuresOf(const DeviceFile& file, std::string_view network) {
    const auto other = [&] {
        return otherNetwork(network, fmt::format("a code of {}", file.input.empty() ? file.space : file.input));
    };
    if (file.graphs) {
        auto row = file.graphs->row(file.space, file.input, std::string(network));
        if (row) return std::move(row->values);
        if (row.error().code == "edge.no-graph") return other();
        return Unexpected(row.error());
    }
    const auto code = codeOf(file, network);
    const auto space = spaceFeatures(file.space);
    std::vector<double> row;
    if (!code || !space || !appendFeatures(*space, *code, row)) return other();
    return row;
}

// Codes of the space are read as such, for their constants fold; other operators as they stand in the workload.
Expected<std::vector<double>> featuresOf(const DeviceFile& file, const Workload& workload) {
    const std::string& source = workload.recipe.source;
    const bool operators = file.graphs && file.graphs->form() == GraphForm::Operators;
    if (operators && !(searchSpaceOf(source) && codeOf(file, source)))
        return file.graphs->row(file.space, workload).values;
    return featuresOf(file, source);
}

}  // namespace

Expected<Predicted> DeviceFile::tell(std::string_view network) const {
    if (model) {
        const auto row = featuresOf(*this, network);
        if (!row) return Unexpected(row.error());
        return model->at(*row);
    }
    for (const NamedLatency& each : named)
        if (each.network == network) return each.predicted;
    return otherNetwork(network, named.empty() ? std::string() : fmt::format("{} …", named.front().network));
}

double DeviceFile::outside(std::string_view network) const {
    if (!model) return 0;
    const auto row = featuresOf(*this, network);
    return row ? model->outside(*row) : 0;
}

// `models/mobilenet.param` is `mobilenet`.
Expected<Predicted> DeviceFile::tell(const Workload& workload) const {
    if (!model) return tell(std::filesystem::path(workload.recipe.source).stem().string());
    const auto row = featuresOf(*this, workload);
    if (!row) return Unexpected(row.error());
    return model->at(*row);
}

double DeviceFile::outside(const Workload& workload) const {
    if (!model) return 0;
    const auto row = featuresOf(*this, workload);
    return row ? model->outside(*row) : 0;
}

std::string writeDeviceFile(const DeviceFile& file) {
    nlohmann::ordered_json json{{"format", "orrery-device"},
                                {"version", 1},
                                {"device", file.device},
                                {"table", file.table},
                                {"unit", "ms"},
                                {"samples", file.samples},
                                {"known_devices", file.knownDevices}};
    if (file.model) {
        json["space"] = file.space;
        json["input"] = file.input;
        json["model"] = DeviceNumbers::written(*file.model);
        if (file.graphs) json["graph"] = writtenGraph(*file.graphs);
    } else {
        json["networks"] = nlohmann::ordered_json::array();
        for (const NamedLatency& each : file.named) {
            json["networks"].push_back({{"network", each.network},
                                        {"latency", each.predicted.mean},
                                        {"low", each.predicted.low},
                                        {"high", each.predicted.high}});
        }
    }
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Expected<DeviceFile> readDeviceFile(const std::string& path) {
    const auto text = readFile(path);
    if (!text) return Unexpected(text.error());
    const auto root = parseJson(*text, path, "edge");
    if (!root) return Unexpected(root.error());
    const auto wrong = [&](std::string message, std::string expected) {
        return fail("edge.device-file", std::move(message), std::move(expected),
                    "`orrery-cli edge … --save FILE` writes one", Place{.file = path});
    };
    if (!root->isObject()) return wrong("this is no device", "an object");
    std::optional<Diagnostic> problem;
    const JsonValues json(*root, problem);
    if (json.text("format", {}) != "orrery-device" || json.whole("version", 0) != 1)
        return wrong("this is no device, or one of a newer version", "\"format\": \"orrery-device\", \"version\": 1");
    DeviceFile file;
    file.device = json.text("device");
    file.table = json.text("table", {});
    file.samples = static_cast<std::size_t>(std::max<std::int64_t>(0, json.whole("samples", 0)));
    file.knownDevices = static_cast<std::size_t>(std::max<std::int64_t>(0, json.whole("known_devices", 0)));
    if (json.has("model")) {
        file.space = json.text("space");
        file.input = json.text("input", {});
        file.model = DeviceNumbers::read(json.inner("model"));
        if (json.has("graph")) {
            file.graphs = readGraph(json.inner("graph"), file.space);
            if (!problem && !file.graphs)
                return wrong("the graph network's numbers do not fit its form", "as many as its form has");
        }
        const auto space = spaceFeatures(file.space);
        const std::size_t columns = file.graphs ? file.graphs->columns(file.space) : space ? space->names.size() : 0;
        if (!problem && (!file.model || !space || file.model->columns() != columns))
            return wrong("the model's numbers do not fit its space", "as many as the space has features");
    } else {
        for (const JsonNode& item : json.list("networks")) {
            const JsonValues each = json.of(item);
            NamedLatency one{each.text("network"), {each.number("latency"), each.number("low"), each.number("high")}};
            const Predicted& p = one.predicted;
            if (!problem && !(p.low > 0 && p.low <= p.mean && p.mean <= p.high))
                return wrong(fmt::format("the latency of {} is no interval above 0", one.network.substr(0, 60)),
                             "low ≤ latency ≤ high");
            file.named.push_back(std::move(one));
        }
        if (!problem && file.named.empty()) return wrong("it tells no network", "`model` or `networks`");
    }
    if (problem) {
        problem->code = "edge.device-file";
        problem->place.file = path;
        return Unexpected(*problem);
    }
    return file;
}

}  // namespace orrery
