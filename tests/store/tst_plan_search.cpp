// Searches for plans: branch and bound against trying every plan, fronts, memory, and what is said when nothing fits.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/cluster_view.h"
#include "mapping/propose_plan.h"
#include "study/planning/plan_search.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>
#include <tuple>

using namespace orrery;

namespace {

HardwarePtr drawing(const char* preset) {
    static std::map<std::string, HardwarePtr, std::less<>> known;
    HardwarePtr& its = known[preset];
    if (!its) {
        auto found = loadHardware(preset);
        if (!found) qFatal("%s", toText(found.error()).c_str());
        its = std::make_shared<const Hardware>(std::move(found->hardware));
    }
    return its;
}

PlanSearchRequest asked(const char* preset, const char* model, std::int64_t batch, std::int64_t sequence) {
    WorkloadRecipe recipe;
    recipe.source = model;
    recipe.options.batch = batch;
    recipe.options.sequence = sequence;
    recipe.options.phase = Phase::TrainingForward;
    auto workload = loadWorkload(recipe);
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    PlanSearchRequest request;
    request.scenario = {drawing(preset), *workload, {}, TrainingStep{}};
    request.method = "tile-wave";
    request.rerun = 0;
    return request;
}

PlanSearchResult found(const PlanSearchRequest& request, int threads = 1) {
    const auto executor = threads == 1 ? makeSerialExecutor() : makeThreadExecutor(threads);
    const PlanSearchContext context{*executor};
    auto result = searchPlans(request, context);
    if (!result) qFatal("%s", toText(result.error()).c_str());
    return std::move(*result);
}

std::array<double, 4> costs(const PlannedPoint& point) {
    const StepFigures& f = point.figures;
    return {f.seconds, static_cast<double>(f.devices), f.joules,
            f.dollarsPerHour > 0 ? f.dollars() : f.deviceSeconds()};
}

}  // namespace

class TstPlanSearch : public QObject {
    Q_OBJECT
private slots:
    void asTryingAll();
    void frontAndMemory();
    void sameAtAnyThreads();
    void runAgain();
    void twoKinds();
    void onTwoKinds();
    void theBestAreNoFlukes();
    void nothingFits();
    void stopped();
    void refused();
};

// Nothing that trying all plans finds is better than what branch and bound finds, for every objective.
void TstPlanSearch::asTryingAll() {
    RandomStream random(5);
    std::uint64_t pruned = 0;
    for (int i = 0; i < 8; ++i) {
        PlanSearchRequest request = asked("dgx-h100-superpod", "llama-3-8b", 16 << random.below(3), 2048);
        request.space.mostDevices = 8 << random.below(3);
        request.space.leastDevices = random.below(2) == 0 ? 1 : request.space.mostDevices;
        request.space.microbatchSize = {1, 2};
        request.objective = static_cast<PlanObjective>(i % 4);
        request.top = 1 + random.below(5);
        if (random.below(2) == 0) request.prices[""] = 2.5;
        const PlanSearchResult bounded = found(request);
        request.prune = false;
        const PlanSearchResult all = found(request);
        QVERIFY(bounded.proven && all.proven);
        QCOMPARE(bounded.plans, all.plans);
        QCOMPARE(all.priced, all.plans);
        QCOMPARE(bounded.priced + bounded.pruned, bounded.plans);
        pruned += bounded.pruned;
        QVERIFY(!all.points.empty());
        for (std::size_t k = 0; k < std::min(request.top, all.points.size()); ++k) {
            QCOMPARE(bounded.points[k].rank, k + 1);
            QCOMPARE(toText(bounded.points[k].plan), toText(all.points[k].plan));
            QCOMPARE(bounded.points[k].figures.seconds, all.points[k].figures.seconds);
        }
        const auto front = [](const PlanSearchResult& result) {
            std::vector<std::string> names;
            for (const PlannedPoint& point : result.points)
                if (point.onFront) names.push_back(toText(point.plan));
            std::sort(names.begin(), names.end());
            return names;
        };
        QCOMPARE(front(bounded), front(all));
    }
    QVERIFY(pruned > 0);
}

void TstPlanSearch::frontAndMemory() {
    PlanSearchRequest request = asked("dgx-h100-superpod", "llama-3-70b", 256, 4096);
    request.space.mostDevices = 256;
    request.space.microbatchSize = {1, 2};
    const PlanSearchResult result = found(request);
    QVERIFY(result.proven);
    qInfo("%llu plans, %llu priced, %llu pruned, %llu too large, %.2f s: %s",
          static_cast<unsigned long long>(result.plans), static_cast<unsigned long long>(result.priced),
          static_cast<unsigned long long>(result.pruned), static_cast<unsigned long long>(result.tooLarge),
          result.seconds, toText(result.points.front().plan).c_str());
    std::size_t onFront = 0;
    for (const PlannedPoint& point : result.points) {
        const std::string said = toText(point.plan);
        QVERIFY2(checkPlan(point.plan.plan, 256), said.c_str());
        QVERIFY2(point.figures.fits() && point.figures.needs > 0, said.c_str());
        QVERIFY2(parsePlan(toText(point.plan.plan)) == point.plan.plan, said.c_str());
        onFront += point.onFront ? 1 : 0;
        for (const PlannedPoint& other : result.points) {
            if (!point.onFront) break;
            const auto a = costs(other), b = costs(point);
            bool all = true, one = false;
            for (std::size_t i = 0; i < a.size(); ++i) all = all && a[i] <= b[i], one = one || a[i] < b[i];
            QVERIFY2(!(all && one), (said + " is beaten by " + toText(other.plan)).c_str());
        }
    }
    QVERIFY(onFront > 1);
    // The smallest plan that holds a model for inference needs no more devices than one that trains it.
    const auto cluster = clusterView(*drawing("dgx-h100-superpod"));
    const PlanNeeds needs{.name = "Llama-3 70B",
                          .bytes = 16.0 * request.scenario.workload->totals.parameters,
                          .layers = 80,
                          .heads = 64,
                          .kvHeads = 8,
                          .width = 28672};
    const auto proposed = proposePlan(needs, *cluster, 1.0);
    QVERIFY(proposed.has_value());
    request.objective = PlanObjective::Devices;
    request.space.zero = {0};
    const PlanSearchResult fewest = found(request);
    QVERIFY(!fewest.points.empty());
    const auto devices = fewest.points.front().figures.devices;
    qInfo("%lld devices, proposed %lld", static_cast<long long>(devices),
          static_cast<long long>(proposed->plan.devices()));
    QVERIFY(devices >= proposed->plan.devices() && devices <= 4 * proposed->plan.devices());
}

void TstPlanSearch::sameAtAnyThreads() {
    PlanSearchRequest request = asked("dgx-a100-superpod", "llama-3-8b", 64, 4096);
    request.space.mostDevices = 64;
    const PlanSearchResult one = found(request), four = found(request, 4);
    QCOMPARE(one.points.size(), four.points.size());
    for (std::size_t i = 0; i < one.points.size(); ++i) {
        QCOMPARE(toText(one.points[i].plan), toText(four.points[i].plan));
        QCOMPARE(one.points[i].figures.seconds, four.points[i].figures.seconds);
    }
    QCOMPARE(one.pruned, four.pruned);
    QCOMPARE(one.nodes, four.nodes);
}

void TstPlanSearch::runAgain() {
    PlanSearchRequest request = asked("dgx-h100", "llama-3-8b", 16, 2048);
    request.rerun = 2;
    request.top = 3;
    const PlanSearchResult result = found(request);
    QVERIFY(result.points.size() >= 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const PlannedPoint& point = result.points[i];
        QCOMPARE(point.ranSeconds.has_value(), i < 2);
        if (!point.ranSeconds) continue;
        QVERIFY(std::abs(point.figures.seconds / *point.ranSeconds - 1) < 0.05);
        QVERIFY(*point.ranLow <= *point.ranSeconds && *point.ranSeconds <= *point.ranHigh);
    }
}

// Sixteen H100 and sixteen A100 in one drawing: each plan stands on one kind, the quicker for time, the cheaper for
// cost.
void TstPlanSearch::twoKinds() {
    Hardware both = *drawing("dgx-h100-superpod");
    for (const Component& child : drawing("dgx-a100-superpod")->root.children)
        if (child.kind == ComponentKind::Node) both.root.children.push_back(child);
    for (Component& child : both.root.children)
        if (child.kind == ComponentKind::Node) child.count = 2;
    both.root.children.back().name = "older";
    PlanSearchRequest request = asked("dgx-h100", "llama-3-8b", 32, 2048);
    request.scenario.hardware = std::make_shared<const Hardware>(std::move(both));
    request.prices = {{"h100", 3.0}, {"a100", 0.5}};
    request.space.microbatchSize = {1, 2};
    request.space.mixed = false;
    const auto kindOf = [&](const PlannedPoint& point) { return point.plan.plan.placement; };
    const PlanSearchResult quick = found(request);
    QVERIFY(!quick.points.empty());
    QVERIFY2(kindOf(quick.points.front()).find("a100") == std::string::npos, kindOf(quick.points.front()).c_str());
    request.objective = PlanObjective::Cost;
    const PlanSearchResult cheap = found(request);
    QVERIFY2(kindOf(cheap.points.front()).find("a100") != std::string::npos, kindOf(cheap.points.front()).c_str());
    QVERIFY(cheap.points.front().figures.dollars() < quick.points.front().figures.dollars());
    request.space.groups = {"h100"};
    const PlanSearchResult kept = found(request);
    for (const PlannedPoint& point : kept.points) QVERIFY(kindOf(point).find("a100") == std::string::npos);
}

// Plans on two kinds at once: what branch and bound finds is the best of all, and better than either kind alone.
void TstPlanSearch::onTwoKinds() {
    PlanSearchRequest request = asked("dgx-h100-and-a100", "llama-3-8b", 32, 2048);
    request.prices = {{"h100", 3.0}, {"a100", 1.0}};
    request.space.microbatchSize = {1, 2};
    request.space.context = {1};
    request.space.sequence = {1};
    request.space.recompute = {Recompute::None};
    request.space.zero = {0, 1};
    request.space.schedule = {PipelineSchedule::OneForwardOneBackward};
    request.top = 5;
    for (const PlanObjective objective : {PlanObjective::Time, PlanObjective::Cost, PlanObjective::Energy}) {
        request.objective = objective;
        request.prune = true;
        const PlanSearchResult bounded = found(request);
        request.prune = false;
        const PlanSearchResult all = found(request);
        QVERIFY(bounded.proven && all.proven);
        QCOMPARE(bounded.plans, all.plans);
        QCOMPARE(all.priced, all.plans);
        QVERIFY(bounded.pruned > 0);
        for (std::size_t k = 0; k < request.top; ++k) {
            QCOMPARE(toText(bounded.points[k].plan), toText(all.points[k].plan));
            QCOMPARE(bounded.points[k].figures.seconds, all.points[k].figures.seconds);
        }
        request.space.mixed = false;
        const PlanSearchResult alone = found(request);
        request.space.mixed = true;
        QVERIFY(alone.plans < all.plans);
        if (objective != PlanObjective::Time) continue;
        const std::string best = toText(all.points.front().plan);
        QVERIFY2(best.find("h100") != std::string::npos && best.find("a100") != std::string::npos, best.c_str());
        QVERIFY2(all.points.front().figures.seconds < alone.points.front().figures.seconds, best.c_str());
        // The same found by asking for every way to stand, one by one.
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        const auto model = StepModel::make(*findMethod("tile-wave"), request.scenario, context, request.prices);
        double least = 1e300;
        for (const std::int64_t tp : {1, 2, 4, 8})
            for (const std::int64_t pp : {2, 4, 8, 16})
                for (const std::int64_t dp : {1, 2, 4, 8})
                    for (const std::int64_t size : {1, 2})
                        for (const std::int64_t zero : {0, 1})
                            for (const char* at : {"h100+a100", "a100+h100"})
                                for (const std::int64_t moved : {0, 1, -1, 2, -2, 4, -4, 8, -8}) {
                                    if (tp * pp * dp > 16 || 32 % (dp * size) != 0) continue;
                                    Plan plan{.tensor = tp, .pipeline = pp, .data = dp, .zero = dp > 1 ? zero : 0};
                                    plan.sequence = tp > 1 ? 1 : 0;
                                    plan.microbatches = 32 / dp / size;
                                    plan.placement = at;
                                    const auto dealt = (*model)->figures({plan});
                                    if (!dealt) continue;
                                    const std::int64_t half = pp / 2;
                                    std::int64_t front = moved;
                                    for (std::int64_t s = 0; s < half; ++s)
                                        front += dealt->layers[static_cast<std::size_t>(s)];
                                    if (front < half || 32 - front < half) continue;
                                    for (const std::int64_t its : {front, 32 - front})
                                        for (std::int64_t s = 0; s < half; ++s)
                                            plan.layers.push_back((s + 1) * its / half - s * its / half);
                                    const auto figures = (*model)->figures({plan});
                                    if (figures && figures->fits()) least = std::min(least, figures->seconds);
                                }
        QVERIFY2(all.points.front().figures.seconds <= least * (1 + 1e-12), best.c_str());
    }
    request.space.leastDevices = 16;  // more than either kind has
    const PlanSearchResult both = found(request);
    QVERIFY(!both.points.empty());
    for (const PlannedPoint& point : both.points) QCOMPARE(point.figures.devices, 16);
}

// A search finds where the closed form is too hopeful, if it is anywhere: its best plans, run.
void TstPlanSearch::theBestAreNoFlukes() {
    double worst = 0;
    for (const auto& [model, batch, devices] :
         {std::tuple("llama-3-8b", 128, 128), std::tuple("llama-3-70b", 256, 512), std::tuple("gpt-3-175b", 96, 768)}) {
        PlanSearchRequest request = asked("dgx-h100-superpod", model, batch, 2048);
        request.space.leastDevices = request.space.mostDevices = devices;
        request.top = request.rerun = 4;
        const PlanSearchResult result = found(request);
        QVERIFY2(!result.points.empty(), result.advice.c_str());
        for (const PlannedPoint& point : result.points) {
            if (!point.ranSeconds) continue;
            const double error = point.figures.seconds / *point.ranSeconds - 1;
            qInfo("%s %s: %.3f s, run %.3f s, %+.1f %%", model, toText(point.plan).c_str(), point.figures.seconds,
                  *point.ranSeconds, 100 * error);
            worst = std::max(worst, std::abs(error));
        }
    }
    QVERIFY(worst < 0.06);
}

void TstPlanSearch::nothingFits() {
    PlanSearchRequest request = asked("dgx-a100-superpod", "gpt-3-175b", 64, 2048);
    request.space.mostDevices = 8;
    const PlanSearchResult result = found(request);
    QVERIFY(result.points.empty() && !result.proven);
    QVERIFY(result.closest.has_value());
    QVERIFY(result.closest->figures.needs > result.closest->figures.capacity);
    QVERIFY2(result.advice.find("too much") != std::string::npos, result.advice.c_str());
    qInfo("%s", result.advice.c_str());
    // And of one plan.
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    const auto model = StepModel::make(*findMethod("tile-wave"), request.scenario, context);
    QVERIFY(model.has_value());
    const StepPlan plan{*parsePlan("tp=8,pp=8,mb=16"), Recompute::None};
    const auto figures = (*model)->figures(plan);
    QVERIFY(figures.has_value() && !figures->fits());
    const std::string said = planFit(**model, plan, *figures);
    QVERIFY2(said.find("it fits") != std::string::npos, said.c_str());
    qInfo("%s", said.c_str());
}

// Stopped on its way it ends soon, with what it has and no proof.
void TstPlanSearch::stopped() {
    const PlanSearchRequest request = asked("dgx-h100-superpod", "llama-3-70b", 1024, 8192);
    const auto executor = makeThreadExecutor(2);
    std::stop_source stop;
    Progress progress;
    const PlanSearchContext context{*executor, stop.get_token(), &progress};
    std::jthread stopper([&] {
        while (progress.total() == 0 || progress.done() < progress.total() / 2) std::this_thread::yield();
        stop.request_stop();
    });
    const auto result = searchPlans(request, context);
    stopper.join();
    QVERIFY(result.has_value());
    QVERIFY(!result->proven);
    for (const PlannedPoint& point : result->points) QVERIFY(point.figures.fits());
}

void TstPlanSearch::refused() {
    const auto executor = makeSerialExecutor();
    PlanSearchRequest request = asked("dgx-h100", "llama-3-8b", 16, 2048);
    request.space.tensor = {3};
    auto none = searchPlans(request, {*executor});
    QVERIFY(!none && none.error().code == "plan.space");
    request.space.tensor.clear();
    request.space.leastDevices = 1000;
    none = searchPlans(request, {*executor});
    QVERIFY(!none && none.error().code == "plan.space");
    request.space.leastDevices = 1;
    request.space.groups = {"h200"};
    none = searchPlans(request, {*executor});
    QVERIFY(!none && none.error().code == "plan.no-such-device");
    request.space.groups.clear();
    std::stop_source stop;
    stop.request_stop();
    none = searchPlans(request, {*executor, stop.get_token()});
    QVERIFY(!none && none.error().code == "study.cancelled");
    // A batch that nobody means, and that one device could never finish: it ends all the same.
    request = asked("dgx-h100", "llama-3-8b", 99'991, 2048);
    const auto prime = searchPlans(request, {*executor});
    QVERIFY(prime.has_value() || !prime.error().message.empty());
}

QTEST_APPLESS_MAIN(TstPlanSearch)
#include "tst_plan_search.moc"
