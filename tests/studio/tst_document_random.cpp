// Do random edits, undone, give the same bytes, and redone the same again?

#include "app/document/commands/comparison_edits.h"
#include "app/document/commands/component_edits.h"
#include "app/document/commands/layout_edits.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/serving_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/commands/set_replication.h"
#include "app/document/commands/training_edits.h"
#include "base/random.h"
#include "support/studio_fixture.h"

#include <functional>
#include <map>

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

using Make = std::function<Expected<Edit>(const ProjectState&, RandomStream&)>;

std::size_t pick(RandomStream& random, std::size_t count) {
    return static_cast<std::size_t>(random.below(std::max<std::size_t>(1, count)));
}

int anyDesign(const ProjectState& state, RandomStream& random) {
    return static_cast<int>(pick(random, state.hardware.size()));
}

/// A random design and some of its components.
struct Spot {
    Spot(const ProjectState& state, RandomStream& random) : design(anyDesign(state, random)) {
        root = &state.hardware[static_cast<std::size_t>(design)]->root;
        collect(*root, {}, paths);
        one = paths[pick(random, paths.size())];
        other = paths[pick(random, paths.size())];
        few = {one, paths[pick(random, paths.size())]};
    }
    const Component& component() const { return *componentAt(*root, one); }
    bool crowded() const { return paths.size() > 80; }
    int design;
    const Component* root;
    ComponentPaths paths;
    ComponentPath one, other;
    ComponentPaths few;
};

Unexpected none() {
    return fail("test.none", "not now");
}

ui::Placement anyPlace(RandomStream& random) {
    ui::Placement at;
    at.x = 8.0 * static_cast<double>(random.below(100));
    at.y = 8.0 * static_cast<double>(random.below(100));
    at.folded = random.below(8) == 0;
    return at;
}

/// Every kind of edit that exists; many attempts are refused, as a person's are.
const std::map<std::string, Make>& kinds() {
    using S = const ProjectState&;
    using R = RandomStream&;
    static const std::map<std::string, Make> all = {
        {"set attribute",
         [](S s, R r) {
             Spot at(s, r);
             return setAttributeEdit(s, at.design, at.one, "bandwidth", QStringLiteral("%1 TB/s").arg(1 + r.uniform()));
         }},
        {"keep a case", [](S s, R r) -> Expected<Edit> { return r.below(4) ? none() : keepCaseEdit(s); }},
        {"compare a design", [](S s, R r) { return addCaseOfDesignEdit(s, anyDesign(s, r)); }},
        {"pin a case", [](S s, R r) { return pinCaseEdit(s, static_cast<int>(r.below(5))); }},
        {"open a case", [](S s, R r) { return openCaseEdit(s, static_cast<int>(r.below(5))); }},
        {"remove a case", [](S s, R r) { return removeCaseEdit(s, static_cast<int>(r.below(5))); }},
        {"set attribute of many",
         [](S s, R r) {
             Spot at(s, r);
             return setAttributeEdit(s, at.design, at.few, "count", QString::number(1 + r.below(9)));
         }},
        {"remove attribute",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             const auto& has = at.component().attributes;
             if (has.empty()) return none();
             return setAttributeEdit(s, at.design, at.one, QString::fromStdString(has[pick(r, has.size())].name), {});
         }},
        {"set count",
         [](S s, R r) {
             Spot at(s, r);
             return setCountEdit(s, at.design, at.one, static_cast<qint64>(r.below(9)));
         }},
        {"set mesh",
         [](S s, R r) {
             Spot at(s, r);
             return setMeshEdit(s, at.design, at.one, {1 + std::int64_t(r.below(3)), 1 + std::int64_t(r.below(3))});
         }},
        {"rename",
         [](S s, R r) {
             Spot at(s, r);
             return renameComponentEdit(s, at.design, at.one, QStringLiteral("part%1").arg(r.below(40)));
         }},
        {"add",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             if (at.crowded()) return none();
             return addComponentsEdit(s, at.design, at.one, {*componentAt(*at.root, at.other)}, {anyPlace(r)});
         }},
        {"paste",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             if (at.crowded()) return none();
             return pasteComponentsEdit(s, at.design, at.one,
                                        QString::fromStdString(writeComponents({*componentAt(*at.root, at.other)})));
         }},
        {"remove",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             if (at.paths.size() < 15) return none();
             return removeComponentsEdit(s, at.design, {at.one});
         }},
        {"move",
         [](S s, R r) {
             Spot at(s, r);
             return moveComponentsEdit(s, at.design, at.few, at.other, static_cast<int>(r.below(4)) - 1);
         }},
        {"duplicate",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             if (at.crowded()) return none();
             return duplicateComponentsEdit(s, at.design, at.few);
         }},
        {"group",
         [](S s, R r) {
             Spot at(s, r);
             return groupComponentsEdit(s, at.design, {at.one},
                                        r.below(2) ? ComponentKind::Node : ComponentKind::Cluster);
         }},
        {"ungroup",
         [](S s, R r) {
             Spot at(s, r);
             return ungroupComponentEdit(s, at.design, at.one);
         }},
        {"link",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             if (at.crowded()) return none();
             return linkComponentsEdit(s, at.design, at.one, at.other);
         }},
        {"replace by parts",
         [](S s, R r) -> Expected<Edit> {
             Spot at(s, r);
             if (at.crowded()) return none();
             for (const ComponentPath& path : at.paths)
                 if (componentAt(*at.root, path)->kind == ComponentKind::Topology)
                     return replaceByPartsEdit(s, at.design, path);
             Component ring;
             ring.kind = ComponentKind::Topology;
             ring.name = "ring";
             ring.attributes = {{"shape", std::string("ring"), {}, {}}};
             return addComponentEdit(s, at.design, {}, ring);
         }},
        {"arrange",
         [](S s, R r) {
             Spot at(s, r);
             return arrangeEdit(s, at.design, "Move", {{at.one, anyPlace(r)}, {at.other, anyPlace(r)}});
         }},
        {"arrange automatically",
         [](S s, R r) {
             Spot at(s, r);
             return arrangeAutomaticallyEdit(s, at.design, at.one);
         }},
        {"derive",
         [](S s, R r) -> Expected<Edit> {
             if (s.hardware.size() > 4) return none();
             return deriveHardwareEdit(s, anyDesign(s, r));
         }},
        {"rename design",
         [](S s, R r) { return renameHardwareEdit(s, anyDesign(s, r), QStringLiteral("Design %1").arg(r.below(9))); }},
        {"reorder designs",
         [](S s, R r) {
             const int from = anyDesign(s, r);
             return reorderHardwareEdit(s, from, anyDesign(s, r));
         }},
        {"add design",
         [](S s, R r) -> Expected<Edit> {
             if (s.hardware.size() > 4) return none();
             return addHardwareEdit(s, *s.hardware[static_cast<std::size_t>(anyDesign(s, r))], r.below(2) == 0);
         }},
        {"remove design",
         [](S s, R r) -> Expected<Edit> {
             if (s.hardware.size() < 4) return none();
             return removeHardwareEdit(s, anyDesign(s, r));
         }},
        {"replace design",
         [](S s, R r) {
             const int from = anyDesign(s, r);
             return replaceHardwareEdit(s, anyDesign(s, r), closedDesign(s, from));
         }},
        {"workload options",
         [](S s, R r) {
             WorkloadOptions o;
             o.batch = static_cast<std::int64_t>(r.below(64));
             return setWorkloadOptionsEdit(s, static_cast<int>(pick(r, s.workloads.size())), o);
         }},
        {"what if",
         [](S s, R r) {
             return setWhatIfsEdit(s, static_cast<int>(pick(r, s.workloads.size())),
                                   r.below(3) ? std::vector<WhatIf>{RetypeKind{}} : std::vector<WhatIf>{},
                                   "MatMul in int8");
         }},
        {"add workload",
         [](S s, R r) -> Expected<Edit> {
             if (s.workloads.size() > 4) return none();
             return addWorkloadEdit(s, s.workloads[pick(r, s.workloads.size())], r.below(2) == 0);
         }},
        {"remove workload",
         [](S s, R r) -> Expected<Edit> {
             if (s.workloads.size() < 3) return none();
             return removeWorkloadEdit(s, static_cast<int>(pick(r, s.workloads.size())));
         }},
        {"replace workload",
         [](S s, R r) {
             return replaceWorkloadEdit(s, static_cast<int>(pick(r, s.workloads.size())),
                                        s.workloads[pick(r, s.workloads.size())]);
         }},
        {"choose scenario",
         [](S s, R r) {
             return chooseScenarioEdit(s, {s.hardware[static_cast<std::size_t>(anyDesign(s, r))]->name,
                                           s.workloads[pick(r, s.workloads.size())].name,
                                           {}});
         }},
        {"serving",
         [](S s, R r) {
             ServingStudy study = s.serving.value_or(ServingStudy());
             study.traffic.arrivals.rate = 1 + static_cast<double>(r.below(50));
             study.scenario.pools.front().replicas = 1 + static_cast<std::int32_t>(r.below(4));
             if (r.below(3) == 0) study.scenario.pools.front().scheduler.id = "vllm-v0";
             return setServingEdit(s, study);
         }},
        {"methods",
         [](S s, R r) {
             return r.below(2) ? setMethodsEdit(s, {"roofline"}) : setMethodsEdit(s, {"llm-inference", "roofline"});
         }},
        {"training",
         [](S s, R r) {
             const Plan plan{.tensor = 1 + std::int64_t(r.below(8)), .data = 1 + std::int64_t(r.below(4))};
             return setTrainingEdit(s, plan, r.below(2) ? "training-step" : "training-step(recompute=full)");
         }},
        {"rename project",
         [](S s, R r) { return renameProjectEdit(s, QStringLiteral("Project %1").arg(r.below(99))); }},
    };
    return all;
}

}  // namespace

class TestDocumentRandom : public QObject {
    Q_OBJECT
private slots:
    void undoAllAndRedoAll_data() {
        QTest::addColumn<quint64>("seed");
        for (const quint64 seed : {1, 2, 3}) QTest::addRow("seed %llu", seed) << seed;
    }
    void undoAllAndRedoAll() {
        QFETCH(quint64, seed);
        RandomStream random(seed);
        Document document;
        document.reset(smallProject());
        const std::string start = document.yaml();
        std::vector<std::string> texts = {start};
        std::vector<std::string> names;
        for (const auto& [name, unused] : kinds()) names.push_back(name);
        int made = 0;
        for (int step = 0; made < 1000 && step < 8000; ++step) {
            const std::string& name = names[pick(random, names.size())];
            const int gesture = random.below(3) == 0 ? 1 : 0;
            const int index = document.undoStack()->index();
            const quint64 revision = document.revision();
            if (!document.apply(kinds().at(name)(*document.state(), random), gesture)) continue;
            if (document.revision() == revision) continue;  // nothing to change
            ++made;
            ++done_[name];
            if (made % 100 == 0) {
                const Expected<LoadedProject> back = readProject(document.yaml());
                QVERIFY2(back.has_value(), back ? "" : orrery::toText(back.error()).c_str());
                QCOMPARE(writeProject(toProject(toState(back->project))), document.yaml());
            }
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
        QCOMPARE(made, 1000);
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
    void everyKindWasDone() {
        for (const auto& [name, unused] : kinds()) QVERIFY2(done_[name] > 0, name.c_str());
    }

private:
    std::map<std::string, int> done_;
};

QTEST_MAIN(TestDocumentRandom)
#include "tst_document_random.moc"
