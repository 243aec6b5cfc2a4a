// Do random edits, undone, give the same bytes, and redone the same again?

#include "app/document/commands/component_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/commands/set_replication.h"
#include "base/random.h"
#include "support/studio_fixture.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

void collect(const Component& component, const ComponentPath& path, std::vector<ComponentPath>& into) {
    into.push_back(path);
    for (int at = 0; at < static_cast<int>(component.children.size()); ++at) {
        ComponentPath next = path;
        next.push_back(at);
        collect(component.children[static_cast<std::size_t>(at)], next, into);
    }
}

/// One of all the edits that exist, on a random place; many are refused, as a person's are.
Expected<Edit> randomEdit(const ProjectState& state, RandomStream& random) {
    const auto pick = [&](std::size_t count) {
        return static_cast<std::size_t>(random.below(std::max<std::size_t>(1, count)));
    };
    const int design = static_cast<int>(pick(state.hardware.size()));
    std::vector<ComponentPath> paths;
    collect(state.hardware[static_cast<std::size_t>(design)]->root, {}, paths);
    const ComponentPath path = paths[pick(paths.size())];
    const ComponentPath other = paths[pick(paths.size())];
    const Component& component = *componentAt(state.hardware[static_cast<std::size_t>(design)]->root, path);
    switch (random.below(15)) {
        case 0:
        case 1:
        case 2:
            return setAttributeEdit(state, design, path, "bandwidth",
                                    QStringLiteral("%1 TB/s").arg(1 + random.uniform()));
        case 3:
            return setAttributeEdit(state, design, path, "capacity",
                                    QStringLiteral("%1 GiB").arg(1 + random.below(90)));
        case 4:
            if (component.attributes.empty()) return fail("test.none", "no attribute");
            return setAttributeEdit(
                state, design, path,
                QString::fromStdString(component.attributes[pick(component.attributes.size())].name), {});
        case 5:
            return setCountEdit(state, design, path, static_cast<qint64>(random.below(200)));
        case 6:
            return setMeshEdit(state, design, path,
                               {1 + std::int64_t(random.below(9)), 1 + std::int64_t(random.below(9))});
        case 7:
            return renameComponentEdit(state, design, path, QStringLiteral("part%1").arg(random.below(40)));
        case 8:
            return addComponentEdit(state, design, path,
                                    *componentAt(state.hardware[static_cast<std::size_t>(design)]->root, other));
        case 9:
            return removeComponentEdit(state, design, path);
        case 10:
            return moveComponentEdit(state, design, path, other, static_cast<int>(random.below(4)));
        case 11: {
            WorkloadOptions options;
            options.batch = static_cast<std::int64_t>(random.below(64));
            options.phase = random.below(2) ? Phase::Decode : Phase::Prefill;
            return setWorkloadOptionsEdit(state, static_cast<int>(pick(state.workloads.size())), options);
        }
        case 12:
            if (state.hardware.size() > 4) return removeHardwareEdit(state, design);
            return addHardwareEdit(state, *state.hardware[static_cast<std::size_t>(design)], random.below(2) == 0);
        case 13: {
            if (state.workloads.empty()) return fail("test.none", "no workload");
            const auto& workload = state.workloads[pick(state.workloads.size())];
            return chooseScenarioEdit(state,
                                      {state.hardware[static_cast<std::size_t>(design)]->name, workload.name, {}});
        }
        default:
            return random.below(2) ? setMethodsEdit(state, {"roofline"})
                                   : setMethodsEdit(state, {"llm-inference", "roofline"});
    }
}

}  // namespace

class TestDocumentRandom : public QObject {
    Q_OBJECT
private slots:
    void undoAllAndRedoAll_data() {
        QTest::addColumn<quint64>("seed");
        for (const quint64 seed : {1, 2, 3, 4, 5, 6, 7, 8}) QTest::addRow("seed %llu", seed) << seed;
    }
    void undoAllAndRedoAll() {
        QFETCH(quint64, seed);
        RandomStream random(seed);
        Document document;
        document.reset(smallProject());
        const std::string start = document.yaml();
        std::vector<std::string> texts = {start};
        int made = 0;
        for (int step = 0; step < 150; ++step) {
            const int gesture = random.below(3) == 0 ? 1 : 0;
            const int index = document.undoStack()->index();
            if (!document.apply(randomEdit(*document.state(), random), gesture)) continue;
            ++made;
            const int now = document.undoStack()->index();
            if (now > index) {
                texts.push_back(document.yaml());
            } else if (now == index) {
                texts.back() = document.yaml();  // merged into the entry before
            } else {
                texts.pop_back();  // merged back to where that entry began
            }
            QCOMPARE(static_cast<int>(texts.size()), document.undoStack()->index() + 1);
        }
        QVERIFY2(made > 40, "the sequence must do something");
        const std::string end = document.yaml();
        for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
            QCOMPARE(document.yaml(), *text);
            document.undoStack()->undo();
        }
        QCOMPARE(document.yaml(), start);
        QVERIFY(!document.isModified());
        while (document.undoStack()->canRedo()) document.undoStack()->redo();
        QCOMPARE(document.yaml(), end);
    }
};

QTEST_MAIN(TestDocumentRandom)
#include "tst_document_random.moc"
