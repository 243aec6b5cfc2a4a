#include "study/fidelity/advice.h"

#include "base/unit.h"
#include "evaluation/best_answer.h"
#include "evaluation/side_by_side.h"
#include "hardware/files/catalogue.h"
#include "methods/among_all.h"
#include "methods/model/kernel_list.h"
#include "methods/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace orrery {

namespace {

constexpr std::array dataNames{"none", "rows", "traces", "binaries"};
constexpr std::array verdictNames{"recommended", "possible", "bound", "too slow", "needs data", "refuses"};
constexpr double likeBest = 1.25;      // of the least error: recommended beside the best
constexpr std::size_t enoughRows = 8;  // in common, to rank by

// Words of a card's needs that only recordings or programs give.
bool mentions(const MethodCard& card, std::initializer_list<std::string_view> words) {
    for (const std::string_view need : card.needs) {
        std::string lower(need);
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        for (const std::string_view word : words)
            if (lower.find(word) != std::string::npos) return true;
    }
    return false;
}

struct Rows {
    std::vector<ReferenceTable> tables;
    std::vector<RowRef> same, other;  // of the question's kinds
    std::set<KernelKind> kinds;
    std::string device;  // of the catalogue; empty: drawn or changed
};

Rows rowsFor(const Scenario& scenario, std::span<const ReferenceTable> more) {
    Rows rows;
    rows.tables = shippedReferences();
    rows.tables.insert(rows.tables.end(), more.begin(), more.end());
    if (scenario.workload) {
        const auto list = kernelListOf(scenario.workload, {});
        for (const Launch& launch : list->list.launches) rows.kinds.insert(launch.kernel.kind);
    }
    std::map<std::string, bool> same;
    const std::string hash = hardwareHash(*scenario.hardware);
    for (std::size_t t = 0; t < rows.tables.size(); ++t) {
        const ReferenceTable& table = rows.tables[t];
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            const ReferenceRow& row = table.rows[r];
            if (!rows.kinds.contains(row.kernel.kind)) continue;
            const std::string& id = table.devices[static_cast<std::size_t>(row.device)].catalogue;
            if (id.empty()) continue;
            auto known = same.find(id);
            if (known == same.end()) {
                const auto loaded = loadHardware(id);
                known = same.emplace(id, loaded && hardwareHash(loaded->hardware) == hash).first;
            }
            if (known->second) rows.device = id;
            (known->second ? rows.same : rows.other)
                .push_back({static_cast<std::int32_t>(t), static_cast<std::int32_t>(r)});
        }
    }
    return rows;
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

// What may be paid for: spread rows, so that all kinds and sizes take part, and of two methods the dearer one's are
// among the cheaper one's.
std::vector<RowRef> some(const std::vector<RowRef>& rows, std::size_t most) {
    if (rows.size() <= most) return rows;
    constexpr double golden = 0.6180339887498949;  // its multiples fill the unit interval evenly, however many
    std::vector<RowRef> chosen;
    std::vector<bool> taken(rows.size(), false);
    for (std::size_t k = 0; chosen.size() < most; ++k) {
        const double at = static_cast<double>(k) * golden;
        const auto row = static_cast<std::size_t>((at - std::floor(at)) * static_cast<double>(rows.size()));
        if (taken[row]) continue;
        taken[row] = true;
        chosen.push_back(rows[row]);
    }
    return chosen;
}

std::string kindsOf(const Rows& rows, const std::vector<RowRef>& of) {
    std::set<std::string> kinds;
    for (const RowRef& ref : of)
        kinds.insert(std::string(toText(
            rows.tables[static_cast<std::size_t>(ref.table)].rows[static_cast<std::size_t>(ref.row)].kernel.kind)));
    return fmt::format("{}", fmt::join(kinds, ", "));
}

std::string decidesOf(const Estimate& answer, double latency) {
    if (answer.interval.kind == IntervalKind::Bound) return answer.latency.value > latency ? "above" : "cannot tell";
    if (answer.interval.high.value < latency) return "below";
    if (answer.interval.low.value > latency) return "above";
    return "cannot tell";
}

EvaluationFigures figuresOn(const Evaluation& evaluation, std::span<const RowRef> rows) {
    std::vector<std::size_t> places;
    for (const RowRef ref : rows) {
        const auto found = std::find(evaluation.rows.ref.begin(), evaluation.rows.ref.end(), ref);
        places.push_back(static_cast<std::size_t>(found - evaluation.rows.ref.begin()));
    }
    return figuresOf(evaluation.rows, places);
}

class Adviser {
public:
    Adviser(const AdviceQuestion& question, const AdviceOptions& options)
        : question_(question), options_(options), rows_(rowsFor(question.scenario, options.tables)) {}

    Expected<AdviceAnswer> answer() {
        AdviceAnswer result;
        result.device = question_.scenario.hardware->name;
        for (const KernelKind kind : rows_.kinds) result.kinds.emplace_back(toText(kind));
        result.rows = rows_.same.size() + rows_.other.size();
        result.sameDeviceRows = rows_.same.size();
        const auto device = deviceView(*question_.scenario.hardware);
        result.platform = device && platformOf(*device) == Platform::Gpu ? "GPU" : "other than GPU";
        if (options_.progress) options_.progress->setTotal(builtinMethods().size());
        for (const Method& method : builtinMethods()) {
            if (options_.stop.stop_requested()) return fail("study.cancelled", "the advice was cancelled");
            result.methods.push_back(adviceOn(method));
            if (options_.progress) options_.progress->advance();
        }
        recommend(result);
        return result;
    }

private:
    Advice adviceOn(const Method& method) {
        const MethodCard& card = method.card;
        Advice advice{std::string(card.id), std::string(card.title), card.methodology};
        advice.failureMode = card.failureMode;
        for (const std::string_view need : card.needs) advice.needs.emplace_back(need);
        const auto stated = expectedCost(method, question_.scenario);
        if (stated) advice.stated = stated->value;
        const TaskKind task = kindOf(question_.scenario.task);
        if (!card.answers(task)) {
            advice.verdict = AdviceVerdict::Refuses;
            advice.reasons.push_back(fmt::format("it does not answer a {}", toText(task)));
            return advice;
        }
        const bool recordings = asksForFile(card) || mentions(card, {"trace", "recorded run", "recording"});
        const bool programs = mentions(card, {"binary", "binaries", "sass", "machine code"});
        if ((recordings && question_.data != DataAtHand::Traces) ||
            (programs && question_.data != DataAtHand::Binaries)) {
            advice.verdict = AdviceVerdict::NeedsData;
            advice.reasons.push_back(fmt::format("it needs {}", fmt::join(advice.needs, "; ")));
            return advice;
        }
        if (question_.within && stated && stated->value > *question_.within) {
            advice.verdict = AdviceVerdict::TooSlow;
            advice.reasons.push_back(fmt::format("an answer is stated to take {}", format(Seconds(stated->value), 2)));
        } else if (asksForFile(card)) {
            advice.reasons.push_back("it answers from a file of yours, named in its options");
        } else if (!stated || stated->value <= options_.trial) {
            ask(method, advice);
        } else if (auto unfit = unfitFor(method); !unfit.empty()) {
            advice.verdict = AdviceVerdict::Refuses;
            advice.reasons.push_back(std::move(unfit));
        } else {
            advice.reasons.push_back(
                fmt::format("not tried here: an answer is stated to take {}", format(Seconds(stated->value), 2)));
        }
        // Who answers too late is not held against rows either: the advice would outlast what it says.
        if (advice.verdict == AdviceVerdict::Refuses || advice.verdict == AdviceVerdict::TooSlow) return advice;
        if (asksForFile(card) || standsAmongAll(card)) judge(method, advice);
        if (question_.data == DataAtHand::Rows) {
            const KernelMethod* kernels = findKernelMethod(card.id);
            if (kernels && kernels->fit)
                advice.reasons.push_back(fmt::format(
                    "your rows can calibrate it: `orrery-cli calibrate --method {} --references FILE`", card.id));
        }
        return advice;
    }

    // Why no device of the design can be asked by it, without asking it; empty: one can, or only an answer would tell.
    std::string unfitFor(const Method& method) const {
        const KernelMethod* kernels = findKernelMethod(method.card.id);
        if (!kernels) return {};
        const auto places = devicesOf(question_.scenario.hardware);
        if (!places) return places.error().message;
        const CalibrationSet& calibrations = options_.calibrations ? *options_.calibrations : shippedCalibrations().set;
        std::string why;
        for (const DeviceRef& place : *places) {
            const auto bound = kernels->bind(place, BindContext{calibrations});
            if (bound) return {};
            if (why.empty()) why = bound.error().message;
        }
        return why;
    }

    void ask(const Method& method, Advice& advice) {
        EstimateContext context{*options_.executor, options_.stop};
        context.calibrations = options_.calibrations;
        context.wantTimeline = false;
        auto answer = estimate(method, question_.scenario, context);
        if (!answer) {
            advice.verdict = AdviceVerdict::Refuses;
            advice.reasons.push_back(answer.error().message);
            return;
        }
        advice.measured = answer->cost.value;
        advice.expectedError = expectedError(*answer);
        if (answer->interval.kind == IntervalKind::Bound) advice.verdict = AdviceVerdict::Bound;
        if (question_.latency) advice.decides = decidesOf(*answer, *question_.latency);
        advice.reasons.push_back(answer->interval.kind == IntervalKind::Bound ? "nothing is faster: a bound"
                                                                              : supportText(*answer));
        advice.answer = std::make_shared<const Estimate>(std::move(*answer));
    }

    // On rows of this device, else of others of the same kinds.
    void judge(const Method& method, Advice& advice) {
        for (const bool same : {true, false}) {
            const auto& all = same ? rows_.same : rows_.other;
            if (all.empty()) continue;
            const double each = method.card.cost.perKernel + method.card.cost.perOperator;
            const auto most = std::min(
                options_.mostRows,
                each > 0 ? static_cast<std::size_t>(std::max(8.0, options_.rowSeconds / each)) : options_.mostRows);
            // A simulator's rows are priced by their cycles, which no card states by row.
            if (method.card.cost.perCycle > 1e-9) continue;
            const auto rows = some(all, most);
            EvaluateOptions options;
            options.executor = options_.executor;
            options.stop = options_.stop;
            options.calibrations = options_.calibrations;
            const auto judged = evaluate(method, rows_.tables, rows, options);
            if (!judged || judged->rows.size() == 0) continue;
            const std::vector<RowRef> priced = judged->rows.ref;
            const EvaluationFigures& f = judged->figures;
            judged_.push_back({advice.method, same, std::make_shared<const Evaluation>(*judged)});
            advice.evidence.push_back(
                {fmt::format("{} on {}", kindsOf(rows_, priced), same ? rows_.device : "other devices"),
                 judged->rows.size(), all.size(), f.errors.mape, f.errors.bias, f.coverage90, same});
            advice.reasons.push_back(fmt::format(
                "{} off on the mean over {} measured rows ({}), {} inside its interval", percent(f.errors.mape),
                judged->rows.size(), advice.evidence.back().what, percent(f.coverage90)));
            if (same) break;
        }
        for (const Evidence& evidence : method.card.evidence) {
            if (advice.evidence.empty())
                advice.reasons.push_back(
                    fmt::format("its card: {} on {}: {}", evidence.workloadClass, evidence.platform, evidence.finding));
        }
    }

    // Those who can be set against each other: judged on rows of this device where anybody was, and on no few of them.
    void compare(AdviceAnswer& result) const {
        std::vector<Advice*> able;
        std::vector<const Evaluation*> evaluations;
        for (const bool same : {true, false}) {
            std::vector<std::size_t> priced;
            for (Advice& each : result.methods) {
                if (each.verdict != AdviceVerdict::Possible || !each.answer) continue;
                for (const Judged& one : judged_) {
                    if (one.method != each.method || one.same != same) continue;
                    able.push_back(&each);
                    evaluations.push_back(one.evaluation.get());
                    priced.push_back(one.evaluation->rows.size());
                }
            }
            const std::vector<bool> wide = wideEnough(priced);
            std::size_t kept = 0;
            for (std::size_t i = 0; i < able.size(); ++i) {
                if (!wide[i]) {
                    able[i]->reasons.emplace_back(
                        "it predicts less than half of the rows of the others, so it is not ranked");
                    continue;
                }
                able[kept] = able[i];
                evaluations[kept++] = evaluations[i];
            }
            able.resize(kept), evaluations.resize(kept);
            if (!able.empty()) break;
        }
        if (able.empty()) return;
        const auto common = pricedByAll(evaluations, evaluations.front()->rows.ref);
        result.comparable = able.size();
        if (common.size() < enoughRows) return;
        result.commonRows = common.size();
        for (std::size_t i = 0; i < able.size(); ++i)
            able[i]->comparedError = figuresOn(*evaluations[i], common).errors.mape;
    }

    void recommend(AdviceAnswer& result) const {
        compare(result);
        const bool ranked = result.commonRows > 0;
        const bool measured = std::any_of(result.methods.begin(), result.methods.end(), [](const Advice& each) {
            return each.verdict == AdviceVerdict::Possible && each.answer && !each.evidence.empty();
        });
        // By what they were off on the same rows; without enough of them by what they expect of themselves. Who was
        // never held against a measurement does not go before one who was.
        const auto errorOf = [&](const Advice& each) -> std::optional<double> {
            if (each.verdict != AdviceVerdict::Possible || !each.answer) return std::nullopt;
            if (ranked) return each.comparedError;
            if (measured && each.evidence.empty()) return std::nullopt;
            return each.expectedError;
        };
        double least = -1;
        std::size_t supported = 0;
        for (const Advice& each : result.methods) {
            if (each.verdict != AdviceVerdict::Possible || !each.answer) continue;
            if (each.answer->support && each.answer->support->unmeasured < 0.5) ++supported;
            if (const auto error = errorOf(each); error && (least < 0 || *error < least)) least = *error;
        }
        for (Advice& each : result.methods) {
            const auto error = errorOf(each);
            if (error && *error <= likeBest * least) each.verdict = AdviceVerdict::Recommended;
        }
        const auto orderOf = [&](const Advice& each) {
            const int place = ranked && each.comparedError ? 0 : !each.evidence.empty() ? 1 : each.answer ? 2 : 3;
            return std::tuple(each.verdict, place, place == 0 ? *each.comparedError : each.expectedError);
        };
        std::stable_sort(result.methods.begin(), result.methods.end(),
                         [&](const Advice& a, const Advice& b) { return orderOf(a) < orderOf(b); });
        if (least < 0) {
            result.gap = "no method answers with what is at hand";
        } else if (supported == 0) {
            result.gap =
                "no answer rests on measured errors for most of its time: read the intervals as guesses, or "
                "measure a few kernels of this device";
        } else if (result.sameDeviceRows == 0) {
            result.gap =
                "no reference rows of this very device and these kernels are present: what is quoted was "
                "measured elsewhere, or stands in calibrations";
        }
    }

    struct Judged {
        std::string method;
        bool same;  // on rows of this device
        std::shared_ptr<const Evaluation> evaluation;
    };

    const AdviceQuestion& question_;
    const AdviceOptions& options_;
    Rows rows_;
    std::vector<Judged> judged_;
};

}  // namespace

std::string_view toText(DataAtHand data) {
    return dataNames[static_cast<std::size_t>(data)];
}
std::optional<DataAtHand> dataAtHand(std::string_view text) {
    for (std::size_t i = 0; i < dataNames.size(); ++i)
        if (text == dataNames[i]) return static_cast<DataAtHand>(i);
    return std::nullopt;
}
std::string_view toText(AdviceVerdict verdict) {
    return verdictNames[static_cast<std::size_t>(verdict)];
}

Expected<AdviceAnswer> adviseOn(const AdviceQuestion& question, const AdviceOptions& options) {
    if (!question.scenario.hardware || !question.scenario.workload)
        return fail("scenario.incomplete", "hardware or workload is missing", "one design and one workload");
    return Adviser(question, options).answer();
}

}  // namespace orrery
