// The fleet on the drawing: every sequence of a moment is counted on the device where it runs, and caches that move
// stand on the network.

#include "app/window/plurals.h"
#include "app/window/serving/fleet_drawing.h"
#include "app/window/serving/serving_page.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

#include <numeric>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

int numberBefore(const QString& text, const QString& word) {
    const auto found = QRegularExpression(QStringLiteral("(\\d+) ") + word).match(text);
    return found.hasMatch() ? found.captured(1).toInt() : 0;
}

}  // namespace

class TestFleetDrawing : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        EnglishPlurals::install();
    }
    void init() {
        auto loaded = loadHardware("dgx-h100");
        QVERIFY(loaded);
        drawing_ = std::make_shared<const Hardware>(std::move(loaded->hardware));
        window_ = std::make_unique<QMainWindow>();
        studio_ = std::make_unique<Studio>(window_.get());
        page_ = std::make_unique<ServingPage>(*studio_, nullptr);
        page_->resize(1400, 900);
        page_->setHardware(drawing_);
    }
    void cleanup() {
        page_.reset();
        studio_.reset();
        window_.reset();
    }

    void everySequenceStandsOnItsDevice() {
        ServingStudy study = ServingPage::usualQuestion();
        study.traffic.requests = 200;
        study.scenario.pools.front().replicas = 2;
        ask(study);
        const auto loads = page_->drawing()->loads();
        QCOMPARE(loads.size(), std::size_t{1});  // eight H100 are one box of the drawing
        const Component* device = componentAt(drawing_->root, loads.front().path);
        QVERIFY(device && device->kind == ComponentKind::Die);
        const ui::Replay replay(page_->runs().front());
        int members = 0, waiting = 0;
        std::int64_t used = 0, total = 0;
        for (std::size_t r = 0; r < replay.replicaCount(); ++r) {
            const auto now = replay.at(r, page_->time());
            members += static_cast<int>(now.members.size());
            waiting += now.waitingCount;
            used += now.usedBlocks;
            total += now.totalBlocks;
        }
        QVERIFY(members > 0);
        const QString& text = loads.front().text;
        QCOMPARE(numberBefore(text, "prompts?") + numberBefore(text, "decoding"), members);
        QCOMPARE(numberBefore(text, "waiting"), waiting);
        QCOMPARE(numberBefore(text, "replicas"), 2);
        QCOMPARE(loads.front().share, static_cast<double>(used) / static_cast<double>(total));
    }

    void cachesThatMoveStandOnTheNetwork() {
        ServingStudy study = ServingPage::usualQuestion();
        study.traffic.requests = 200;
        PoolSpec& prompts = study.scenario.pools.front();
        prompts.name = "prompts";
        prompts.role = ReplicaRole::Prefill;
        PoolSpec tokens = prompts;
        tokens.name = "tokens";
        tokens.role = ReplicaRole::Decode;
        study.scenario.pools.push_back(tokens);
        study.scenario.transfer = TransferSpec{.bytesPerSecond = 1e9};  // slow enough to be seen
        ask(study);
        const ui::Replay replay(page_->runs().front());
        const auto& events = page_->runs().front()->result;
        PlannedFleet planned;
        auto fleet = fleetOf(study.scenario, drawing_, {});
        QVERIFY(fleet);
        planned = std::move(*fleet);
        planned.network = ComponentPath{0, 0};
        int most = 0;
        for (int step = 0; step <= 100; ++step) {
            const SimTime time = events.end / 100 * step;
            int arriving = 0;
            for (std::size_t r = 0; r < replay.replicaCount(); ++r)
                arriving += static_cast<int>(replay.at(r, time).arriving.size());
            most = std::max(most, arriving);
            int shown = 0;
            for (const auto& load : fleetLoads(replay, planned, *drawing_, time))
                if (load.path == *planned.network) shown = numberBefore(load.text, "KV caches?");
            QCOMPARE(shown, arriving);
        }
        QVERIFY(most > 0);
    }

    void withoutTransferOfItsOwnTheDrawnNetworkIsFound() {
        ServingScenario scenario = ServingPage::usualQuestion().scenario;
        scenario.pools.front().role = ReplicaRole::Prefill;
        PoolSpec tokens = scenario.pools.front();
        tokens.name = "tokens";
        tokens.role = ReplicaRole::Decode;
        scenario.pools.push_back(tokens);
        auto fleet = fleetOf(scenario, drawing_, {});
        QVERIFY(fleet);
        QVERIFY(fleet->network);
        QCOMPARE(componentAt(drawing_->root, *fleet->network)->kind, ComponentKind::Switch);
        for (const PlannedPool& pool : fleet->pools)
            QCOMPARE(componentAt(pool.design->root, pool.place)->kind, ComponentKind::Die);
    }

    void aDesignOfTheCatalogueIsShownInstead() {
        ServingStudy study = ServingPage::usualQuestion();
        study.traffic.requests = 100;
        study.scenario.pools.front().hardware = "a100-80-sxm";
        ask(study);
        QCOMPARE(page_->drawing()->loads().size(), std::size_t{1});
        QVERIFY(page_->drawing()->view()->scene().find(page_->drawing()->loads().front().path) >= 0);
        auto* choice = page_->drawing()->findChild<QComboBox*>("serving.design");
        QCOMPARE(choice->count(), 1);
        QVERIFY(choice->currentText().contains("A100"));
    }

private:
    void ask(const ServingStudy& study) {
        page_->setQuestion(study);
        page_->setVisible(true);
        page_->tabs()->setCurrentWidget(page_->drawing());
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isBusy() && !page_->runs().empty(), 60000);
    }
    HardwarePtr drawing_;
    std::unique_ptr<QMainWindow> window_;
    std::unique_ptr<Studio> studio_;
    std::unique_ptr<ServingPage> page_;
};

QTEST_MAIN(TestFleetDrawing)
#include "tst_fleet_drawing.moc"
