// What a person may choose for a plan: every value that is offered must be one that the step's run accepts, and every
// refusal must say what it needs.

#include "methods/system/sharded_workload.h"
#include "methods/system/training/plan_values.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

WorkloadRecipe recipeOf(const char* source, std::int64_t batch, std::int64_t sequence = 4096) {
    WorkloadRecipe recipe{source, {}, {}};
    recipe.options.batch = batch;
    recipe.options.sequence = sequence;
    recipe.options.phase = Phase::TrainingForward;
    return recipe;
}

const PlanValue* valueIn(const std::vector<PlanValue>& values, std::int64_t value) {
    const auto at = std::ranges::find(values, value, &PlanValue::value);
    return at == values.end() ? nullptr : &*at;
}

}  // namespace

class TestPlanValues : public QObject {
    Q_OBJECT
private slots:
    void headsAndDevicesBoundTensorParallelism() {
        const PlanRoom room = planRoom(recipeOf("llama-3-70b", 512), 512);
        QCOMPARE(room.name, std::string("Llama-3 70B"));
        const auto values = planValues(Plan{.tensor = 8}, PlanNumber::Tensor, room, false);
        QVERIFY(std::ranges::is_sorted(values, {}, &PlanValue::value));
        for (const std::int64_t good : {1, 2, 4, 8, 16, 32, 64}) {
            QVERIFY2(valueIn(values, good), qPrintable(QString::number(good)));
            QVERIFY2(!valueIn(values, good)->refused, qPrintable(QString::number(good)));
        }
        const PlanValue* over = valueIn(values, 128);
        QVERIFY(over && over->refused);
        QCOMPARE(over->refused->code, std::string("plan.does-not-divide"));
        const auto few = planValues(Plan{}, PlanNumber::Tensor, planRoom(recipeOf("llama-3-70b", 64), 4), false);
        QVERIFY(valueIn(few, 8) && valueIn(few, 8)->refused);
        QCOMPARE(valueIn(few, 8)->refused->code, std::string("plan.too-many-devices"));
    }

    void divisorsOfTheLayersAreOffered() {
        const PlanRoom room = planRoom(recipeOf("llama-3-70b", 512), 512);
        const auto values = planValues(Plan{.pipeline = 4}, PlanNumber::Pipeline, room, false);
        for (const std::int64_t good : {5, 10, 20, 40, 80})  // of 80 layers
            QVERIFY2(valueIn(values, good) && !valueIn(values, good)->refused, qPrintable(QString::number(good)));
        QVERIFY(valueIn(values, 128) && valueIn(values, 128)->refused);
        const auto turns = planValues(Plan{.pipeline = 4, .microbatches = 8}, PlanNumber::Interleave, room, false);
        QVERIFY(valueIn(turns, 5) && !valueIn(turns, 5)->refused);
        const auto none = planValues(Plan{}, PlanNumber::Interleave, room, false);
        QCOMPARE(valueIn(none, 2)->refused->code, std::string("plan.interleave"));
    }

    void copiesFollow() {
        const PlanRoom room = planRoom(recipeOf("llama-3-70b", 512), 512);
        const auto values = planValues(Plan{.tensor = 8, .pipeline = 4, .data = 16, .microbatches = 32},
                                       PlanNumber::Tensor, room, true);
        QCOMPARE(valueIn(values, 4)->plan.data, 32);
        QCOMPARE(valueIn(values, 4)->plan.microbatches, 16);  // 512 ÷ 32 samples of a copy
        QCOMPARE(valueIn(values, 16)->plan.data, 8);
        QCOMPARE(valueIn(values, 16)->plan.microbatches, 32);
        QCOMPARE(valueIn(values, 8)->plan.data, 16);  // the present one stays as it is
        const auto copies =
            planValues(Plan{.tensor = 8, .pipeline = 4, .data = 1, .microbatches = 512}, PlanNumber::Data, room, false);
        QCOMPARE(valueIn(copies, 16)->plan.microbatches, 32);
        // Interleaved stages take micro-batches in rounds: no more copies than leave one.
        const auto turns = planValues(Plan{.tensor = 8, .pipeline = 8, .interleave = 2, .microbatches = 64},
                                      PlanNumber::Tensor, planRoom(recipeOf("llama-3-70b", 64), 512), true);
        QCOMPARE(valueIn(turns, 1)->plan.data, 8);
        QCOMPARE(valueIn(turns, 1)->plan.microbatches, 8);
        QVERIFY(!valueIn(turns, 1)->refused);
        QCOMPARE(filled(Plan{.tensor = 8}, planRoom(recipeOf("llama-3-70b", 48), 512), 512).data, 48);
        QCOMPARE(filled(Plan{.tensor = 8}, planRoom(recipeOf("llama-3-70b", 60), 400), 400).data,
                 30);  // of 50 possible
    }

    void otherModelsAreOnlyCopied() {
        const PlanRoom room = planRoom(recipeOf("resnet-50", 256, 0), 8);
        QVERIFY(!room.model);
        QCOMPARE(valueIn(planValues(Plan{}, PlanNumber::Tensor, room, false), 2)->refused->code,
                 std::string("plan.not-a-transformer"));
        QVERIFY(!valueIn(planValues(Plan{}, PlanNumber::Data, room, false), 8)->refused);
    }

    // Of many random plans: what fits() accepts, the shard accepts, and the other way round.
    void theShardAgrees() {
        const WorkloadPtr workload = loadWorkload(recipeOf("llama-3-8b", 64)).value();
        const PlanRoom room = planRoom(workload->recipe, 4096);
        std::uint64_t state = 7;
        const auto pick = [&](std::initializer_list<std::int64_t> of) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            return of.begin()[(state >> 33) % of.size()];
        };
        int accepted = 0, refused = 0;
        for (int i = 0; i < 60; ++i) {
            const Plan plan{.tensor = pick({1, 2, 3, 8, 32, 64}),
                            .pipeline = pick({1, 2, 8, 32, 40}),
                            .data = pick({1, 2, 5, 64, 128}),
                            .context = pick({1, 2, 4}),
                            .microbatches = pick({0, 1, 4, 64})};
            const bool good = fits(plan, room).has_value();
            const bool made = shardedWorkload(workload, plan, TrainingStep{}).has_value();
            const bool devices = plan.devices() <= room.devices;
            QVERIFY2(good == (made && devices), (toText(plan) + (made ? " is made" : " is not made")).c_str());
            ++(good ? accepted : refused);
        }
        QVERIFY(accepted > 5 && refused > 5);
    }
};

QTEST_GUILESS_MAIN(TestPlanValues)
#include "tst_plan_values.moc"
