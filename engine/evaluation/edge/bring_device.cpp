#include "evaluation/edge/bring_device.h"

#include "base/maths.h"
#include "base/random.h"
#include "base/text/words.h"
#include "evaluation/edge/edge_shares.h"
#include "evaluation/edge/few_shot.h"
#include "evaluation/error_metrics.h"
#include "learning/edge/graph_features.h"
#include "learning/edge/level_steps.h"
#include "learning/edge/next_samples.h"
#include "learning/edge/space_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace orrery {

struct OthersKnown {
    std::optional<NamedNetworks> named;  // networks by name
    FeatureRows features;                // else
    std::vector<std::vector<double>> columns;
    std::optional<DevicePrior> prior;
    std::optional<GraphFeatures> graphs;
    std::optional<EdgeShares> shares;  // of networks by name, where graphs tell them
};

namespace {

constexpr double ownNan = std::numeric_limits<double>::quiet_NaN();
constexpr double middleOfNormal = 0.6744897501960817, ninetyOfNormal = 1.6448536269514722;
constexpr std::size_t mostTogether = 300;  // networks whose errors are weighed against each other

// One device among known ones: samples as places, told and together as the two kinds of tables allow.
struct Bringing {
    const EdgeTable& known;
    const OwnDevice& device;
    const BringOptions& options;
    const OthersKnown& others;
    BroughtDevice out = {};
    std::vector<std::size_t> measured = {};
    std::vector<double> values = {};
    std::set<std::size_t> used = {};

    Expected<void> take() {
        for (const OwnSample& each : device.measured) {
            if (!(std::isfinite(each.latency) && each.latency > 0))
                return fail("edge.bad-sample", fmt::format("{}: a sample of {}", each.network, each.latency),
                            "a latency above 0");
            const auto found = std::find(known.networks.begin(), known.networks.end(), each.network);
            const auto at = static_cast<std::size_t>(found - known.networks.begin());
            const bool unknown =
                found == known.networks.end() ||
                (others.named && !others.named->matrix.tells(others.named->place.find(each.network)->second));
            if (unknown || !used.insert(at).second) {
                out.notes.push_back(warning("edge.unused-sample",
                                            fmt::format("{}: {}", each.network,
                                                        !unknown        ? "measured twice"
                                                        : others.shares ? "its topology is not known"
                                                                        : "no known device has this network"),
                                            "only its first measurement counts, of networks that the table has"));
                continue;
            }
            measured.push_back(at);
            values.push_back(each.latency / (others.shares ? others.shares->usual[at] : 1));
        }
        return {};
    }

    void tell(std::size_t row, const Predicted& predicted, EdgeDoubt doubt) {
        const auto at = std::find(measured.begin(), measured.end(), row);
        const double value = at == measured.end() ? ownNan : values[static_cast<std::size_t>(at - measured.begin())],
                     usual = others.shares ? others.shares->usual[row] : 1;
        out.told.push_back({device.name, known.networks[row], usual * value,
                            others.shares ? others.shares->inUnits(row, predicted) : predicted, doubt});
    }

    // What is said of those not measured, from their intervals.
    void sum() {
        std::vector<double> errors, widths;
        for (const EdgePrediction& each : out.told) {
            if (!std::isnan(each.measured) || !(each.predicted.low > 0)) continue;
            widths.push_back(each.predicted.high / each.predicted.low);
            errors.push_back(std::expm1(middleOfNormal * std::log(widths.back()) / (2 * ninetyOfNormal)));
        }
        out.error = errors.empty() ? 0 : quantileType7(errors, 0.5);
        out.width = widths.empty() ? 1 : quantileType7(widths, 0.5);
    }

    // The next ones, each with what it leaves of what is said now. Without any sample of networks by name the level is
    // open: the first sets it.
    void choose(std::vector<double> together, double rest, std::span<const std::size_t> rows,
                std::span<const std::size_t> candidates) {
        const std::size_t n = rows.size();
        double before = 0;
        for (std::size_t i = 0; i < n; ++i) before += std::max(0.0, together[i * n + i]) / static_cast<double>(n);
        const double left = std::sqrt(before + rest * rest);
        for (const NextSample& each : nextSamples(together, rest, candidates, options.next)) {
            const double after = std::sqrt(each.left * each.left + rest * rest);
            const double error = std::isnan(out.error) ? std::expm1(middleOfNormal * after) : out.error * after / left;
            out.next.push_back({known.networks[rows[each.network]], error});
            if (options.until && error <= *options.until) break;
        }
    }

    // Those asked about beside the table are part of it by name.
    Expected<void> takeOthers() {
        for (const std::string& network : options.tell) {
            const auto at = std::find_if(out.told.begin(), out.told.end(),
                                         [&](const EdgePrediction& each) { return each.network == network; });
            if (at == out.told.end())
                return fail("edge.no-samples", fmt::format("{} cannot be predicted yet", network.substr(0, 80)),
                            "a network of the table, and one that was measured on the device");
            out.others.push_back(*at);
        }
        return {};
    }

    Expected<void> byName() {
        const NamedNetworks* const named = &*others.named;
        NetworkMatrix matrix = named->matrix;
        out.knownDevices = matrix.devices();
        out.error = ownNan;
        std::vector<std::size_t> places, candidates;
        for (const std::size_t row : measured) places.push_back(named->place.find(known.networks[row])->second);
        if (!measured.empty()) {
            matrix.tune(places, options.seed);
            out.simple = matrix.simple();
            const std::size_t own = known.target(device.name);
            const auto all =
                matrix.predict(places, values, own < known.targets.size() ? known.describedAs(own) : device.name);
            if (!all) return Unexpected(all.error());
            for (std::size_t r = 0; r < known.networks.size(); ++r) {
                const std::size_t at = named->place.find(known.networks[r])->second;
                if (matrix.tells(at))
                    tell(r, (*all)[at], matrix.doubtful((*all)[at]) ? EdgeDoubt::Wide : EdgeDoubt::None);
            }
            sum();
        }
        if (auto found = takeOthers(); !found) return found;
        if (options.next == 0) return {};
        auto together = matrix.covariance();
        for (const std::size_t each : places) nextSamples(together, matrix.rest(), std::array{each}, 1);
        // The half of networks that most devices have ties a device to most of them.
        std::vector<double> shares;
        for (std::size_t n = 0; n < named->names.size(); ++n) shares.push_back(matrix.knownShare(n));
        const double middle = quantileType7(shares, 0.5);
        for (std::size_t n = 0; n < named->names.size(); ++n)
            if (matrix.knownShare(n) > 0 && matrix.knownShare(n) >= middle &&
                std::find(places.begin(), places.end(), n) == places.end())
                candidates.push_back(n);
        std::vector<std::size_t> rows;
        for (const std::string& name : named->names)
            rows.push_back(static_cast<std::size_t>(std::find(known.networks.begin(), known.networks.end(), name) -
                                                    known.networks.begin()));
        choose(std::move(together), matrix.rest(), rows, candidates);
        return {};
    }

    Expected<std::vector<double>> rowOf(const std::string& network) const {
        if (others.graphs) {
            auto row = others.graphs->row(known.space, known.input, network);
            if (!row) return Unexpected(row.error());
            return std::move(row->values);
        }
        const auto space = spaceFeatures(known.space);
        if (!space) return Unexpected(space.error());
        const std::string& own = known.input.empty() ? known.space : known.input;
        std::vector<double> row;
        const bool inFront = network.starts_with(own + ":");
        auto read = appendFeatures(*space, std::string_view(network).substr(inFront ? own.size() + 1 : 0), row);
        if (read) return row;
        read.error().hint = "counts tell codes alone; a graph network over operators tells other networks too";
        return Unexpected(read.error());
    }

    Expected<void> tellOthers(const DeviceModel& model) {
        for (const std::string& network : options.tell) {
            const auto row = rowOf(network);
            if (!row) return Unexpected(row.error());
            const auto [said, doubt] = toldWithDoubt(model, *row);
            out.others.push_back({device.name, network, ownNan, said, doubt});
        }
        return {};
    }

    Expected<void> byCode() {
        const FeatureRows* const features = &others.features;
        DevicePrior prior = *others.prior;
        prior.calibrate(*features, others.columns, measured.size(), options.seed);
        out.knownDevices = prior.known();
        const auto rowsOf = [&](std::span<const std::size_t> rows) {
            FeatureRows some = features->none();
            for (const std::size_t r : rows) {
                const auto row = features->row(r);
                some.add(row);
            }
            return some;
        };
        std::vector<double> order(measured.size());
        std::iota(order.begin(), order.end(), 1.0);
        const auto conditioned = conditionInOrder(prior, rowsOf(measured), values, order);
        if (!conditioned) return Unexpected(conditioned.error());
        const DeviceModel* const model = &conditioned->model;
        if (auto note = levelNote(conditioned->levels, device.name)) out.notes.push_back(std::move(*note));
        out.simple = model->simple;
        out.model = *model;
        out.graphs = others.graphs;
        for (std::size_t r = 0; r < known.networks.size(); ++r) {
            auto [said, doubt] = toldWithDoubt(*model, features->row(r));
            if (others.shares && doubt == EdgeDoubt::None && model->doubtful(others.shares->inUnits(r, said)))
                doubt = EdgeDoubt::Wide;
            tell(r, said, doubt);
        }
        sum();
        if (auto found = others.shares ? takeOthers() : tellOthers(*model); !found) return found;
        if (options.next == 0) return {};
        std::vector<std::size_t> open;
        for (std::size_t r = 0; r < known.networks.size(); ++r)
            if (!used.contains(r)) open.push_back(r);
        RandomStream random(options.seed);
        const std::size_t count = std::min(mostTogether, open.size());
        for (std::size_t i = 0; i < count; ++i) std::swap(open[i], open[i + random.below(open.size() - i)]);
        open.resize(count);
        std::vector<std::size_t> all(count);
        std::iota(all.begin(), all.end(), std::size_t{0});
        choose(model->covariance(rowsOf(open)), std::max(0.003, model->noise), open, all);
        return {};
    }
};

Expected<BroughtDevice> bringAmong(const OthersKnown& others, const EdgeTable& known, const OwnDevice& device,
                                   const BringOptions& options) {
    Bringing bringing{others.shares ? others.shares->table : known, device, options, others};
    if (auto taken = bringing.take(); !taken) return Unexpected(taken.error());
    auto done = others.named ? bringing.byName() : bringing.byCode();
    if (!done) return Unexpected(done.error());
    return std::move(bringing.out);
}

}  // namespace

Expected<OthersKnownPtr> learnOthers(const EdgeTable& known, const std::string& device, const BringOptions& options) {
    const bool graph = options.model != EdgeModel::Additive;
    auto made = std::make_shared<OthersKnown>();
    OthersKnown& out = *made;
    if (known.networks.empty()) return fail("edge.no-networks", "the table has no network");
    if (known.space.empty() && !graph) {
        const EdgeProtocol protocol;
        auto named = namedNetworks({known, known, protocol, true}, device);
        if (!named) return Unexpected(named.error());
        out.named = std::move(*named);
        return OthersKnownPtr(made);
    }
    std::vector<std::string> devices;
    for (std::size_t t = 0; t < known.targets.size(); ++t)
        if (!sameWhole(known, t, known, device)) devices.push_back(known.targets[t]);
    NetworkGraphs graphs;
    if (known.space.empty()) {
        auto shares = edgeShares(known, known, devices);
        if (!shares) return Unexpected(shares.error());
        out.shares = std::move(*shares);
        graphs = out.shares->graphs;
    } else {
        auto features = edgeFeatures(known);
        if (!features) return Unexpected(features.error());
        out.features = std::move(*features);
        if (graph) {
            auto read = edgeGraphs(known, options.model, options.stop);
            if (!read) return Unexpected(read.error());
            graphs = std::move(*read);
        }
    }
    const EdgeTable& table = out.shares ? out.shares->table : known;
    for (const std::string& each : devices) out.columns.push_back(table.values[table.target(each)]);
    if (graph) {
        const auto learned = GraphFeatures::learn(
            graphs, out.columns, {.edges = edgesOf(options.model), .seed = options.seed, .stop = options.stop});
        if (!learned) return Unexpected(learned.error());
        out.features = learned->rows(graphs, out.shares ? nullptr : &out.features);
        out.graphs = *learned;
    }
    auto prior =
        DevicePrior::learn(out.features, out.columns, graph ? std::vector<std::size_t>{} : analyticColumns(known));
    if (!prior) return Unexpected(prior.error());
    out.prior = std::move(*prior);
    return OthersKnownPtr(made);
}

Expected<BroughtDevice> bringDevice(const EdgeTable& known, const OwnDevice& device, const BringOptions& options,
                                    const OthersKnownPtr& before) {
    const auto others = before ? Expected<OthersKnownPtr>(before) : learnOthers(known, device.name, options);
    if (!others) return Unexpected(others.error());
    return bringAmong(**others, known, device, options);
}

Expected<DeviceFile> deviceFileOf(const BroughtDevice& told, const EdgeTable& known, const OwnDevice& device) {
    const std::string low = lower(device.name);
    for (const std::string_view unit : {"_mj", "_uj", "_j", "_mw", "_w"}) {
        if (!low.ends_with(unit)) continue;
        return fail("edge.no-latency", fmt::format("{} is energy or power by its name", device.name),
                    "a latency in ms");
    }
    DeviceFile file;
    file.device = device.name;
    file.table = std::filesystem::path(known.path).filename().string();
    file.space = known.space;
    file.input = known.input;
    file.samples = device.measured.size();
    file.knownDevices = told.knownDevices;
    if (!known.space.empty()) {
        file.model = told.model;
        file.graphs = told.graphs;
    }
    if (!file.model)
        for (const EdgePrediction& each : told.told) file.named.push_back({each.network, each.predicted});
    if (!file.model && file.named.empty())
        return fail("edge.no-samples", "nothing is predicted of the device yet", "one measured network or more");
    return file;
}

Expected<std::vector<SampleStep>> sampleSteps(const EdgeTable& known, const OwnDevice& device,
                                              const BringOptions& options, const OthersKnownPtr& before) {
    std::vector<SampleStep> steps;
    BringOptions own = options;
    own.next = 0;
    own.tell.clear();
    const std::size_t all = device.measured.size(), most = std::min<std::size_t>(all, 24);
    if (all == 0) return steps;
    const auto others = before ? Expected<OthersKnownPtr>(before) : learnOthers(known, device.name, options);
    if (!others) return Unexpected(others.error());
    for (std::size_t i = 1; i <= most; ++i) {
        const std::size_t count = i * all / most;  // every one of few
        if (options.stop.stop_requested()) return fail("edge.stopped", "stopped");
        OwnDevice some{device.name,
                       {device.measured.begin(), device.measured.begin() + static_cast<std::ptrdiff_t>(count)}};
        const auto told = bringAmong(**others, known, some, own);
        if (!told) return Unexpected(told.error());
        SampleStep step{count, told->error, told->width, ownNan, ownNan, ownNan};
        std::vector<double> said, measured;
        double inside = 0;
        for (std::size_t later = count; later < all; ++later) {
            const auto at = std::find_if(told->told.begin(), told->told.end(), [&](const EdgePrediction& each) {
                return each.network == device.measured[later].network && std::isnan(each.measured);
            });
            if (at == told->told.end()) continue;
            said.push_back(at->predicted.mean);
            measured.push_back(device.measured[later].latency);
            inside += measured.back() >= at->predicted.low && measured.back() <= at->predicted.high ? 1 : 0;
        }
        if (said.size() >= 3) {
            const ErrorSummary summary = summarise(said, measured);
            step.error = summary.medianError;
            step.rank = summary.spearman;
            step.held = inside / static_cast<double>(said.size());
        }
        steps.push_back(step);
    }
    return steps;
}

Expected<std::vector<OwnSample>> readOwnSamples(std::string_view text) {
    std::vector<OwnSample> samples;
    int line = 0;
    for (std::string_view row : split(text, '\n')) {
        ++line;
        row = trimmed(row);
        if (row.empty() || row.front() == '#') continue;
        // A code may hold commas or bars: the latency is what stands last.
        std::size_t mark = row.find_last_of(",;\t");
        if (mark == std::string_view::npos) {
            return fail("edge.no-column", fmt::format("“{}” has no latency", row.substr(0, 60)),
                        "network,latency on each line", {}, Place{.line = line});
        }
        std::string_view name = trimmed(row.substr(0, mark)), cell = trimmed(row.substr(mark + 1));
        if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
        if (cell.empty()) continue;
        const auto number = numberIn(cell);
        if (!number && samples.empty() && lower(name).find("network") != std::string::npos) continue;  // the heading
        if (!number || !(*number > 0)) {
            return fail("edge.bad-number", fmt::format("“{}” of {}", cell.substr(0, 40), name.substr(0, 60)),
                        "a latency above 0, or nothing where it was not measured", {}, Place{.line = line});
        }
        samples.push_back({std::string(name), *number});
    }
    return samples;
}

std::string toMeasureAsCsv(std::span<const NextMeasurement> next) {
    std::string text = "network,latency_ms\n";
    for (const NextMeasurement& each : next) {
        const bool quoted = each.network.find_first_of(",;\t") != std::string::npos;
        text += fmt::format("{0}{1}{0},\n", quoted ? "\"" : "", each.network);
    }
    return text;
}

}  // namespace orrery
