#include "study/fidelity/budget.h"

#include "base/unit.h"
#include "methods/answer/stated_errors.h"
#include "study/fidelity/askers.h"
#include "study/fidelity/open_total.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace orrery {

namespace {

constexpr double cheapShare = 0.05;    // of the stated cost of full fidelity: asked of every kernel at once
constexpr double measuredShare = 0.5;  // where how far it lies from full fidelity was measured
constexpr double atOnce = 2e-3;        // seconds, too
constexpr double trialSeconds = 0.05;  // stated, for one kernel of each kind, to hear how sure a method is
constexpr double surer = 0.9;          // of the error of another method: taken for that kind of kernel
constexpr double wellInTime = 0.1;  // of the time left: full fidelity as its card states it fits, cheap answers or not
constexpr double sides = 2.06;      // half-width of 90 % ÷ mean error, of a normal

const double unheard = std::log(2.0) + 0.2;  // error of a method that has said nothing, in ln

double machineClock() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Error to expect of a price, in ln, as best_answer.h counts it.
double errorOf(const PricedLaunch& p) {
    const double nobodyKnows = std::log(2.0) + 0.1;
    if (!p.known || !p.price.priced || !(p.low > 0) || !(p.seconds > 0)) return nobodyKnows;
    return meanError(p.seconds, p.low, p.high) + (p.price.domain == DomainVerdict::Outside ? 0.1 : 0);
}

class Run {
public:
    Run(KernelAskers askers, const BudgetOptions& options)
        : askers_(std::move(askers)), options_(options), clock_(options.clock ? options.clock : machineClock) {}

    Expected<BudgetAnswer> answer() {
        begun_ = clock_();
        if (options_.progress) options_.progress->setTotal(askers_.units.size());
        if (auto chosen = chooseFull(); !chosen) return Unexpected(std::move(chosen.error()));
        choosing_ = clock_() - begun_;
        if (auto asked = askCheap(); !asked) return Unexpected(std::move(asked.error()));
        OpenTotal total(askers_, full_, skeleton_);
        BudgetAnswer answer;
        refine(total, answer);
        return finish(total, std::move(answer));
    }

private:
    KernelAsker& asker(std::size_t i) { return askers_.all[i]; }
    bool isSample(std::size_t i) const { return !askers_.all[i].samples.empty(); }
    std::size_t methods() const { return askers_.all.size() - 1; }  // the last is each kernel's roofline
    double totalOf(const KernelAsker& each) const {
        double sum = each.cost.fixed;
        for (const KernelUnit& unit : askers_.units) sum += each.stated(unit);
        return sum;
    }
    Expected<void> ask(std::size_t who, std::size_t unit) {
        KernelAsker& each = asker(who);
        if (each.said[unit]) return {};
        if (each.asked.kernels == 0) order_.push_back(who);
        return askAbout(askers_, each, unit, options_, clock_);
    }
    Expected<void> askAll(std::size_t who) {
        for (std::size_t u = 0; u < askers_.units.size(); ++u)
            if (auto asked = ask(who, u); !asked) return asked;
        return {};
    }

    // Which method's word is taken as full fidelity, kind by kind: the one named, or the least expected error.
    Expected<void> chooseFull() {
        full_.assign(askers_.units.size(), 0);
        if (!options_.full.empty()) {
            const auto named = methodChoice(options_.full, builtinMethods());
            if (!named) return Unexpected(named.error());
            const std::string text = toText(*named);
            for (std::size_t i = 0; i < methods(); ++i)
                if (asker(i).choice == text) skeleton_ = i, isNamed_ = true;
            if (!isNamed_) {
                for (const Diagnostic& note : askers_.notes)
                    if (note.message.find(text) != std::string::npos) return Unexpected(note);
                return fail("budget.no-method", fmt::format("`{}` does not predict the kernels of this question", text),
                            "a kernel method that answers on this device", "name it among the methods, too");
            }
            full_.assign(askers_.units.size(), skeleton_);
            return {};
        }
        std::vector<std::array<double, kernelKindCount>> error(askers_.all.size());
        std::array<double, kernelKindCount> weight{};
        double least = -1, tried = 0, all = 0;
        for (std::size_t i = 0; i < methods(); ++i) {
            error[i].fill(unheard);
            if (isSample(i)) continue;  // it is no other word than that of what it samples
            // Trials that cost more than the answer of a method which is as sure as was asked for find nothing.
            if (options_.to && least >= 0 && sides * least <= *options_.to * all &&
                tried + trialsOf(i) > totalOf(asker(skeleton_)))
                continue;
            if (auto heard = hear(i, error[i]); !heard) return heard;
            if (i == 0) {
                for (std::size_t u = 0; u < askers_.units.size(); ++u) {
                    const double seconds = asker(0).seconds(askers_.units, u);
                    weight[static_cast<std::size_t>(askers_.units[u].kind)] += seconds;
                    all += seconds;
                }
            }
            if (!isQuick(i)) tried += trialsOf(i);
            double sum = 0;
            for (std::size_t k = 0; k < weight.size(); ++k) sum += weight[k] * error[i][k];
            if (least < 0 || sum < least * (1 - 1e-9)) least = sum, skeleton_ = i;
        }
        for (std::size_t u = 0; u < askers_.units.size(); ++u) {
            const auto kind = static_cast<std::size_t>(askers_.units[u].kind);
            std::size_t best = skeleton_;
            for (std::size_t i = 0; i < methods(); ++i)
                if (!isSample(i) && error[i][kind] < surer * error[best][kind]) best = i;
            full_[u] = best;
        }
        return {};
    }

    bool isQuick(std::size_t who) { return who == 0 || totalOf(asker(who)) <= atOnce; }

    // The kernels of a kind by which a method says how sure it is: all if it is quick, else the smallest, if that is.
    std::vector<std::size_t> trials(std::size_t who, int kind) {
        std::vector<std::size_t> of;
        for (std::size_t u = 0; u < askers_.units.size(); ++u)
            if (static_cast<int>(askers_.units[u].kind) == kind) of.push_back(u);
        if (isQuick(who) || of.empty()) return of;
        const auto smallest = *std::min_element(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
            return askers_.units[a].flops < askers_.units[b].flops;
        });
        const double most = options_.within ? std::min(trialSeconds, 0.02 * *options_.within) : trialSeconds;
        if (asker(who).stated(askers_.units[smallest]) > most) return {};
        return {smallest};
    }
    double trialsOf(std::size_t who) {
        double sum = 0;
        for (int k = 0; k < kernelKindCount; ++k)
            for (const std::size_t u : trials(who, k)) sum += asker(who).stated(askers_.units[u]);
        return sum > 0 ? sum + asker(who).cost.fixed : 0;
    }

    // What a method says of its own error, by kind.
    Expected<void> hear(std::size_t who, std::array<double, kernelKindCount>& error) {
        std::array<double, kernelKindCount> busy{}, sum{};
        for (int k = 0; k < kernelKindCount; ++k) {
            const auto at = static_cast<std::size_t>(k);
            for (const std::size_t u : trials(who, k)) {
                if (auto asked = ask(who, u); !asked) return asked;
                for (const std::size_t i : askers_.units[u].launches) {
                    const PricedLaunch p = pricedAs(asker(who).open, i, *asker(who).said[u]);
                    const double seconds = p.seconds * asker(who).open.list().launches[i].count;
                    busy[at] += seconds;
                    sum[at] += seconds * errorOf(p);
                }
            }
            if (busy[at] > 0) error[at] = sum[at] / busy[at];
        }
        return {};
    }

    bool standsForFull(const KernelAsker& each) const {
        return !each.standsFor.empty() && std::all_of(full_.begin(), full_.end(), [&](std::size_t who) {
            return askers_.all[who].choice == each.standsFor;
        });
    }
    // Full fidelity's sampled form, or what there is of other cheap methods: whom to ask about every kernel.
    std::vector<std::size_t> cheapOnes(double dear) {
        const auto sampled = std::find_if(askers_.all.begin(), askers_.all.end(), [&](const KernelAsker& each) {
            return std::all_of(full_.begin(), full_.end(),
                               [&](std::size_t who) { return each.samples == asker(who).choice; });
        });
        // Where full fidelity has a sampled form, that alone: others are farther from it and cost time.
        if (sampled != askers_.all.end() && !full_.empty()) {
            const double cost = totalOf(*sampled);
            const bool inTime = !options_.within || clock_() - begun_ + cost <= 0.5 * *options_.within;
            if (cost <= measuredShare * dear && inTime)
                return {static_cast<std::size_t>(sampled - askers_.all.begin())};
        }
        std::vector<std::size_t> cheap;
        for (std::size_t i = 1; i < methods(); ++i) {
            if (isSample(i) || std::find(full_.begin(), full_.end(), i) != full_.end()) continue;
            // What was measured against full fidelity is worth half of it, as a sampled form is.
            const double share = standsForFull(asker(i)) ? measuredShare : cheapShare;
            if (totalOf(asker(i)) <= std::max(share * dear, atOnce)) cheap.push_back(i);
        }
        return cheap;
    }

    Expected<void> askCheap() {
        double dear = 0, left = 0;
        for (std::size_t u = 0; u < askers_.units.size(); ++u) {
            const double stated = asker(full_[u]).stated(askers_.units[u]);
            dear += stated;
            if (!asker(full_[u]).said[u]) left += stated;
        }
        if (auto asked = askAll(0); !asked) return asked;
        const auto cheap = cheapOnes(dear);
        double cost = 0;
        for (const std::size_t i : cheap) {
            for (std::size_t u = 0; u < askers_.units.size(); ++u)
                if (!asker(i).said[u]) cost += asker(i).stated(askers_.units[u]);
        }
        // Nothing is saved by cheap answers that cost what full fidelity does, or where it will be asked anyway.
        if (left <= cost) return {};
        if (options_.within && !options_.to && left <= wellInTime * (*options_.within - (clock_() - begun_))) return {};
        for (const std::size_t i : cheap) {
            const bool dearForTime = options_.within && clock_() - begun_ + totalOf(asker(i)) > 0.1 * *options_.within;
            if (dearForTime && !isSample(i)) continue;
            if (auto asked = askAll(i); !asked) return asked;
        }
        return {};
    }

    double stated() const {
        double sum = 0;
        for (const KernelAsker& each : askers_.all) sum += each.asked.stated;
        return sum;
    }
    double pricing() const {
        double sum = 0;
        for (const KernelAsker& each : askers_.all) sum += each.asked.seconds;
        return sum;
    }
    // What one kernel will take by the clock, as the method has kept to what its card states so far.
    double expected(std::size_t who, std::size_t unit) const {
        const KernelAsker& each = askers_.all[who];
        double known = 0;
        for (std::size_t u = 0; u < askers_.units.size(); ++u)
            if (each.said[u]) known += each.stated(askers_.units[u]);
        return each.stated(askers_.units[unit]) * (known > 0 ? std::clamp(each.asked.seconds / known, 0.1, 1e3) : 1);
    }

    void refine(OpenTotal& total, BudgetAnswer& answer) {
        std::string asked = "the cheapest answers";
        double width = -1;
        for (;;) {
            const OpenTotal::State state = total.state();
            BudgetStep step;
            step.asked = asked;
            step.stated = stated(), step.seconds = clock_() - begun_, step.pricing = pricing();
            step.kernels = state.known;
            step.latency = state.latency, step.low = state.low, step.high = state.high;
            step.fullLow = state.fullLow, step.fullHigh = state.fullHigh;
            const double now = (state.high - state.low) / std::max(state.latency, 1e-300);
            step.surprise = width >= 0 && now > width * (1 + 1e-9);
            width = now;
            answer.steps.push_back(step);
            if (options_.onStep) options_.onStep(step);
            if (state.known == askers_.units.size()) {
                answer.ended = "full fidelity has predicted every kernel";
                break;
            }
            if (options_.stop.stop_requested()) {
                answer.ended = "stopped";
                break;
            }
            if (options_.to) {
                const double reached = width / 2;
                if (reached <= *options_.to) {
                    answer.ended = fmt::format("±{:.2g} % is reached", 100 * reached);
                    break;
                }
                // What full fidelity says of itself stays: asking on narrows the rest alone.
                if (state.least / 2 > *options_.to && width <= 1.05 * state.least) {
                    answer.ended = fmt::format("±{:.2g} % cannot be reached: full fidelity itself states ±{:.2g} %",
                                               100 * *options_.to, 50 * state.least);
                    break;
                }
            }
            const double spent = clock_() - begun_;
            const auto next = total.best([&](std::size_t unit) {
                return !options_.within || spent + expected(full_[unit], unit) <= *options_.within;
            });
            if (!next) {
                answer.ended = "no further kernel fits into the time that is left";
                break;
            }
            const std::size_t who = full_[*next];
            if (auto done = ask(who, *next); !done) {
                answer.ended = done.error().code == "study.cancelled" ? "stopped" : done.error().message;
                break;
            }
            total.learn(*next);
            if (options_.progress) options_.progress->advance();
            const Launch& launch = asker(who).open.list().launches[askers_.units[*next].first()];
            const auto& op = askers_.scenario.workload->graph.operators[static_cast<std::size_t>(launch.op)];
            asked = fmt::format("{}: {} ({})", asker(who).choice, op.name, toText(launch.kernel));
        }
    }

    Expected<BudgetAnswer> finish(OpenTotal& total, BudgetAnswer answer) {
        const OpenTotal::State state = total.state();
        EstimateContext context{*options_.executor};
        context.calibrations = options_.calibrations;
        context.seed = options_.seed;
        context.wantTimeline = false;  // cheap answers have no spans
        const KernelAsker& leader = askers_.all[skeleton_];
        auto made = estimateOf(askers_.scenario, leader.method->id, leader.options, total.composition(), context);
        if (!made) return Unexpected(std::move(made.error()));
        answer.estimate = std::move(*made);
        Estimate& e = answer.estimate;
        answer.complete = state.known == askers_.units.size();
        answer.kernels = askers_.units.size();
        answer.launches = askers_.launches;
        answer.fullLow = state.fullLow, answer.fullHigh = state.fullHigh;
        answer.families = total.families();
        answer.notes = askers_.notes;
        for (std::size_t u = 0; u < askers_.units.size(); ++u) {
            const KernelUnit& unit = askers_.units[u];
            KernelAsker& each = asker(full_[u]);
            answer.statedOnce += each.stated(unit);
            answer.statedEach += unit.count * each.stated(unit);
            each.asked.full = true;
            const std::string kind(toText(unit.kind));
            auto& kinds = each.asked.kinds;
            if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
        }
        for (const std::size_t who : order_) answer.asked.push_back(asker(who).asked);
        answer.stated = stated();
        answer.seconds = clock_() - begun_;
        answer.choosing = choosing_;
        const bool one = std::all_of(full_.begin(), full_.end(), [&](std::size_t f) { return f == skeleton_; });
        e.method = fmt::format("budget({})", leader.choice);
        e.provenance.method = e.method;
        e.provenance.version = std::string(leader.method->version);
        e.provenance.seed = options_.seed;
        e.cost = Seconds(answer.seconds);
        if (!answer.complete || !one) {
            e.interval.kind = IntervalKind::Sampling;
            e.interval.basis = fmt::format(
                "what full fidelity states of its own error, and what {} of {} kernels that it was not asked about "
                "leave open: their cheap answers are corrected by how far those of their family were off (90 % of a "
                "normal with unknown mean and spread)",
                answer.kernels - state.known, answer.kernels);
        }
        return answer;
    }

    KernelAskers askers_;
    const BudgetOptions& options_;
    std::function<double()> clock_;
    double begun_ = 0, choosing_ = 0;
    std::vector<std::size_t> full_;  // by unit: whose word is full fidelity
    std::size_t skeleton_ = 0;       // whose composition carries the answer
    bool isNamed_ = false;
    std::vector<std::size_t> order_;
};

}  // namespace

Expected<BudgetAnswer> answerWithin(const Scenario& scenario, const BudgetOptions& options) {
    if (options.within && !(*options.within > 0))
        return fail("budget.bad-limit", "the time must be above 0", "a time such as `10s`");
    if (options.to && !(*options.to > 0))
        return fail("budget.bad-limit", "the width must be above 0", "a share such as `5%`");
    if (!options.full.empty() && !findKernelMethod(options.full.substr(0, options.full.find('(')))) {
        return fail("budget.no-method", fmt::format("`{}` does not predict single kernels", options.full),
                    "a method of level kernel", "`orrery-cli methods` says which are");
    }
    auto askers = kernelAskers(scenario, options.methods, options);
    if (!askers) return Unexpected(std::move(askers.error()));
    return Run(std::move(*askers), options).answer();
}

}  // namespace orrery
