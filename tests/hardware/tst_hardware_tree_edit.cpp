// Do edits of the tree keep what refers to components? Components carry tags in their comments; what a link means is
// read here by names alone, before and after.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/edit/tree_edit.h"
#include "hardware/check/validate.h"

#include <QtTest/QtTest>

#include <functional>
#include <map>
#include <set>

using namespace orrery;
using enum ComponentKind;

namespace {

Component part(ComponentKind kind, std::string name, std::vector<Component> children = {}) {
    Component made;
    made.kind = kind;
    made.name = std::move(name);
    made.children = std::move(children);
    return made;
}

Component link(std::string name, const std::string& from, const std::string& to) {
    Component made = part(Link, std::move(name));
    if (!from.empty()) made.attributes.push_back({"from", from, {}, {}});
    if (!to.empty()) made.attributes.push_back({"to", to, {}, {}});
    return made;
}

std::string end(const Component& link, const char* which) {
    const Attribute* found = link.find(which);
    return found ? std::get<std::string>(found->value) : std::string();
}

void walk(Component& component, const ComponentPath& path,
          const std::function<void(Component&, const ComponentPath&)>& visit) {
    visit(component, path);
    for (int i = 0; i < static_cast<int>(component.children.size()); ++i) {
        ComponentPath next = path;
        next.push_back(i);
        walk(component.children[static_cast<std::size_t>(i)], next, visit);
    }
}

ComponentPaths allPaths(Hardware& design) {
    ComponentPaths paths;
    walk(design.root, {}, [&](Component&, const ComponentPath& path) { paths.push_back(path); });
    return paths;
}

void tag(Hardware& design) {
    int next = 0;
    walk(design.root, {}, [&](Component& each, const ComponentPath&) { each.comment = "t" + std::to_string(next++); });
}

/// Tag of what names below `parent` mean; empty for nothing.
std::string meaning(const Component* parent, std::string names) {
    while (parent && !names.empty()) {
        const auto slash = names.find('/');
        const std::string first = names.substr(0, slash);
        const Component* found = nullptr;
        for (const Component& child : parent->children) {
            if (!found && child.kind != Link && nameOf(child) == first) found = &child;
        }
        parent = found;
        if (slash == std::string::npos) return found ? found->comment : std::string();
        names = names.substr(slash + 1);
    }
    return {};
}

using Ends = std::pair<std::string, std::string>;
/// Link's tag → tags of its ends. Copies carry the tags of what they were copied from.
std::multimap<std::string, Ends> meanings(Hardware& design) {
    std::multimap<std::string, Ends> found;
    walk(design.root, {}, [&](Component& parent, const ComponentPath&) {
        for (const Component& child : parent.children) {
            if (child.kind != Link) continue;
            found.emplace(child.comment,
                          Ends{meaning(&parent, end(child, "from")), meaning(&parent, end(child, "to"))});
        }
    });
    return found;
}

ComponentPath pathOf(const Hardware& design, const char* names) {
    return findComponent(design.root, names).value();
}

/// node (gpu0, gpu1, switch, links), a second node, and a link between the two gpu0.
Hardware twoNodes() {
    Hardware design;
    design.name = "Two nodes";
    const auto node = [](std::string name) {
        return part(Node, std::move(name),
                    {part(Package, "gpu0"), part(Package, "gpu1"), part(Switch, "nvswitch"),
                     link("up0", "gpu0", "nvswitch"), link("up1", "gpu1", "nvswitch"), link("out", "nvswitch", "")});
    };
    design.root = part(System, "system", {node("a"), node("b"), link("cross", "a/gpu0", "b/gpu0")});
    return design;
}

}  // namespace

class TestTreeEdit : public QObject {
    Q_OBJECT
private slots:
    void renamingRewritesTheEndsOfLinks() {
        Hardware design = twoNodes();
        const auto edit = renamed(design, pathOf(design, "a/gpu0"), "h100");
        QVERIFY(edit.has_value());
        const Component& a = edit->design.root.children[0];
        QCOMPARE(end(a.children[3], "from"), std::string("h100"));
        QCOMPARE(end(a.children[3], "to"), std::string("nvswitch"));
        QCOMPARE(end(edit->design.root.children[2], "from"), std::string("h100").insert(0, "a/"));
        QCOMPARE(end(edit->design.root.children[2], "to"), std::string("b/gpu0"));
        QCOMPARE(edit->made, ComponentPaths({{0, 0}}));
        QVERIFY(!renamed(design, {0, 0}, "gpu1"));
        QVERIFY(!renamed(design, {0, 0}, "x/y"));
        QVERIFY(!renamed(design, {0, 9}, "x"));
    }
    void removingTakesLinksAlong() {
        Hardware design = twoNodes();
        const auto edit = removed(design, {{0, 0}});
        QVERIFY(edit.has_value());
        QCOMPARE(edit->design.root.children.size(), std::size_t{2});              // cross is gone
        QCOMPARE(edit->design.root.children[0].children.size(), std::size_t{4});  // up0 too
        QVERIFY(!edit->moved({0, 0}));
        QVERIFY(!edit->moved({0, 3}));
        QVERIFY(!edit->moved({2}));
        QCOMPARE(edit->moved({0, 4}).value(), ComponentPath({0, 2}));
        QVERIFY(!removed(design, {{}}));
        QVERIFY(!removed(design, {}));
    }
    void movingReHostsLinks() {
        Hardware design = twoNodes();
        const auto edit = reparented(design, {{0, 0}}, {1});
        QVERIFY(edit.has_value());
        // gpu0 stands beside another gpu0 now; the link to the old switch spans both nodes.
        const Component& moved = *componentAt(edit->design.root, edit->made.front());
        QCOMPARE(moved.kind, Package);
        QVERIFY(moved.name != "gpu0");
        bool found = false;
        for (const Component& child : edit->design.root.children) {
            if (child.name != "up0") continue;
            found = true;
            QCOMPARE(end(child, "from"), "b/" + moved.name);
            QCOMPARE(end(child, "to"), std::string("a/nvswitch"));
        }
        QVERIFY(found);
        // And cross, now within b, went there.
        QCOMPARE(componentAt(edit->design.root, edit->moved({2}).value())->name, std::string("cross"));
        QCOMPARE(edit->moved({2})->front(), edit->moved({1})->front());
        QVERIFY(!reparented(design, {{0}}, {0, 0}));  // into itself
        QVERIFY(!reparented(design, {{0}}, {0, 2}));  // a node in a switch
        QVERIFY(!reparented(design, {{0, 3}}, {1}));  // a link away from its ends
    }
    void movingWithinAFamilyKeepsTheOrderGiven() {
        Hardware design;
        for (const char* name : {"a", "b", "c", "d"}) design.root.children.push_back(part(Core, name));
        const auto order = [](const TreeEdit& edit) {
            std::string names;
            for (const Component& child : edit.design.root.children) names += child.name;
            return names;
        };
        QCOMPARE(order(*reparented(design, {{0}}, {}, 2)), std::string("bacd"));
        QCOMPARE(order(*reparented(design, {{3}}, {}, 0)), std::string("dabc"));
        QCOMPARE(order(*reparented(design, {{2}, {0}}, {}, -1)), std::string("bdac"));
        QCOMPARE(order(*reparented(design, {{0}, {1}}, {}, 3)), std::string("cabd"));
        QCOMPARE(order(*reparented(design, {{1}}, {}, 1)), std::string("abcd"));
    }
    void duplicatingCopiesTheLinksAmong() {
        Hardware design = twoNodes();
        const auto edit = duplicated(design, {{0, 0}, {0, 2}});
        QVERIFY(edit.has_value());
        const Component& a = edit->design.root.children[0];
        QCOMPARE(a.children.size(), std::size_t{9});
        QCOMPARE(a.children[6].name, std::string("gpu2"));  // gpu0 and gpu1 count
        QCOMPARE(a.children[7].name, std::string("nvswitch2"));
        QCOMPARE(end(a.children[8], "from"), std::string("gpu2"));
        QCOMPARE(end(a.children[8], "to"), std::string("nvswitch2"));
        QCOMPARE(edit->made, ComponentPaths({{0, 6}, {0, 7}, {0, 8}}));
        const auto whole = duplicated(design, {{0}});
        QCOMPARE(end(whole->design.root.children[3].children[3], "from"), std::string("gpu0"));
        QCOMPARE(whole->design.root.children[3].name, std::string("a2"));
    }
    void groupingAndUngroupingComeBack() {
        Hardware design = twoNodes();
        const auto together = grouped(design, {{0, 0}, {0, 1}}, Node, "board");
        QVERIFY(together.has_value());
        const Component& board = *componentAt(together->design.root, together->made.front());
        QCOMPARE(board.name, std::string("board"));
        QCOMPARE(board.children.size(), std::size_t{2});
        QCOMPARE(end(together->design.root.children[2], "from"), std::string("a/board/gpu0"));
        const auto apart = ungrouped(together->design, together->made.front());
        QVERIFY(apart.has_value());
        QCOMPARE(writeHardware(apart->design), writeHardware(design));
        QVERIFY(!grouped(design, {{0, 0}, {1, 0}}, Node, ""));
        QVERIFY(!grouped(design, {{0, 0}, {0, 1}}, Core, ""));  // a package in a core
        QVERIFY(!ungrouped(design, {0, 0}));
    }
    void groupedTogetherWithTheirLink() {
        Hardware design = twoNodes();
        const auto edit = grouped(design, {{0, 0}, {0, 2}}, Node, "half");
        QVERIFY(edit.has_value());
        const Component& half = *componentAt(edit->design.root, edit->made.front());
        QCOMPARE(half.children.size(), std::size_t{3});  // gpu0, nvswitch and up0 between them
        QCOMPARE(half.children[2].name, std::string("up0"));
        // What leaves the node still leaves the node.
        QCOMPARE(end(edit->design.root.children[0].children.back(), "from"), std::string("half/nvswitch"));
    }
    void ungroupingMultipliesTheCopies() {
        Hardware design;
        design.root =
            part(System, "s", {part(Node, "n", {part(Package, "p"), part(Package, "q"), link("l", "p", "q")})});
        design.root.children[0].count = 3;
        design.root.children[0].children[0].count = 8;
        const auto edit = ungrouped(design, {0});
        QVERIFY(edit.has_value());
        QCOMPARE(edit->design.root.children[0].count, std::int64_t{24});
        QCOMPARE(edit->design.root.children[1].count, std::int64_t{3});
        QCOMPARE(edit->design.root.children[2].count, std::int64_t{1});  // one link stands for each copy
        design.root.children[0].children[0].count = std::int64_t{1} << 60;
        QVERIFY(!ungrouped(design, {0}));
    }
    void linkingPutsTheLinkWhereBothEndsAre() {
        Hardware design = twoNodes();
        const auto edit = linked(design, {0, 1}, {1, 2});
        QVERIFY(edit.has_value());
        const Component& made = *componentAt(edit->design.root, edit->made.front());
        QCOMPARE(edit->made.front().size(), std::size_t{1});
        QCOMPARE(end(made, "from"), std::string("a/gpu1"));
        QCOMPARE(end(made, "to"), std::string("b/nvswitch"));
        QVERIFY(!linked(design, {0}, {0, 1}));
        QVERIFY(!linked(design, {0, 1}, {0, 1}));
        QVERIFY(!linked(design, {0, 1}, {0, 3}));
        QVERIFY(!linked(design, {}, {0, 3}));
    }
    void addedPartsFollowTheirNewNames() {
        Hardware design = twoNodes();
        const auto edit = added(
            design, {0},
            {part(Package, "gpu0"), part(Package, "cpu"), link("bus", "gpu0", "cpu"), link("old", "gpu1", "cpu")});
        QVERIFY(edit.has_value());
        const Component& a = edit->design.root.children[0];
        QCOMPARE(a.children[6].name, std::string("gpu2"));
        QCOMPARE(end(a.children[8], "from"), std::string("gpu2"));
        QCOMPARE(end(a.children[8], "to"), std::string("cpu"));
        QCOMPARE(end(a.children[9], "from"), std::string("gpu1"));
        QVERIFY(!added(design, {0, 2}, {part(Package, "gpu0")}));
    }
    void aCopyIsTextAndComesBack() {
        Hardware design = loadHardware("h100-sxm").value().hardware;
        ComponentPaths tops;
        for (int i = 0; i < static_cast<int>(design.root.children.size()); ++i) tops.push_back({i});
        const std::vector<Component> parts = copied(design, tops);
        const auto back = readComponents(writeComponents(parts));
        QVERIFY(back.has_value());
        QVERIFY(*back == parts);
        const auto file = readComponents(writeHardware(design));
        QVERIFY(file.has_value());
        QVERIFY(*file == design.root.children);
        QCOMPARE(readComponents("{kind: dram, name: hbm}").value().front().name, std::string("hbm"));
        for (const char* bad : {"", "hello", "[]", "- 3", "{kind: wheel}", "- {kind: dram", "orrery: hardware/9"}) {
            const auto refused = readComponents(bad);
            QVERIFY2(!refused, bad);
            QVERIFY(!refused.error().message.empty());
        }
    }
    void aCopyTakesLinksAmongAcrossPlaces() {
        Hardware design = twoNodes();
        const auto parts = copied(design, {{0, 0}, {1, 0}});
        QCOMPARE(parts.size(), std::size_t{3});
        QCOMPARE(parts[0].name, std::string("gpu0"));
        QVERIFY(parts[1].name != parts[0].name);
        QCOMPARE(end(parts[2], "from"), parts[0].name);
        QCOMPARE(end(parts[2], "to"), parts[1].name);
    }
    void freeNamesCountWhereNumbersCount() {
        const Component parent = part(Node, "n",
                                      {part(Package, "gpu6"), part(Package, "gpu7"), part(Cache, "l1"),
                                       part(Cache, "l2"), part(Package, "h100"), part(Dram, "hbm")});
        QCOMPARE(freeChildName(parent, "cpu"), std::string("cpu"));
        QCOMPARE(freeChildName(parent, "gpu7"), std::string("gpu8"));
        QCOMPARE(freeChildName(parent, "hbm"), std::string("hbm2"));
        QCOMPARE(freeChildName(parent, "l2"), std::string("l2_2"));      // a copy of an L2 is not an L3
        QCOMPARE(freeChildName(parent, "h100"), std::string("h100_2"));  // nor is there an H101
    }

    void randomEditsKeepWhatLinksMean_data() {
        QTest::addColumn<quint64>("seed");
        for (quint64 seed = 1; seed <= 8; ++seed) QTest::addRow("seed %llu", seed) << seed;
    }
    void randomEditsKeepWhatLinksMean();
    void everyKindWasDone() {
        for (int kind = 0; kind < 8; ++kind) QVERIFY2(done_[kind] > 10, qPrintable(QString("rarely: %1").arg(kind)));
    }

private:
    std::map<int, int> done_;  ///< edits that were possible, by kind
};

void TestTreeEdit::randomEditsKeepWhatLinksMean() {
    QFETCH(quint64, seed);
    RandomStream random(seed);
    Hardware design = twoNodes();
    for (int step = 0; step < 160; ++step) {
        tag(design);
        const ComponentPaths paths = allPaths(design);
        const auto any = [&] { return paths[static_cast<std::size_t>(random.below(paths.size()))]; };
        ComponentPaths some;
        for (std::uint64_t n = 1 + random.below(3); n > 0; --n) some.push_back(any());
        const int kind = std::min(7, static_cast<int>(random.below(10)));
        const Hardware before = design;
        const auto apply = [&]() -> Expected<TreeEdit> {
            switch (kind) {
                case 0:
                    return renamed(design, any(), "p" + std::to_string(random.below(30)));
                case 1:
                    return added(design, any(), copied(design, some));
                case 2:
                    return removed(design, paths.size() < 20 ? ComponentPaths{} : ComponentPaths{any()});
                case 3:
                    return reparented(design, some, any(), static_cast<int>(random.below(6)) - 1);
                case 4:
                    return paths.size() > 120 ? removed(design, some) : duplicated(design, some);
                case 5:
                    return grouped(design, some, random.below(2) ? Node : Package, "g");
                case 6:
                    return ungrouped(design, any());
                default:
                    return linked(design, any(), any());
            }
        };
        Expected<TreeEdit> edit = apply();
        QVERIFY(design == before);
        if (!edit) {
            QVERIFY(!edit.error().message.empty());
            continue;
        }
        ++done_[kind];
        // Where everything went.
        std::set<std::string> removedTags;
        for (const ComponentPath& path : paths) {
            const std::string& was = componentAt(design.root, path)->comment;
            const auto now = edit->moved(path);
            if (!now) {
                removedTags.insert(was);
                continue;
            }
            const Component* there = componentAt(edit->design.root, *now);
            QVERIFY(there);
            QCOMPARE(there->comment, was);
            QCOMPARE(there->kind, componentAt(design.root, path)->kind);
        }
        for (const ComponentPath& made : edit->made) QVERIFY(componentAt(edit->design.root, made));
        // What links mean.
        auto now = meanings(edit->design);
        for (const auto& [which, ends] : meanings(design)) {
            const bool lost = removedTags.contains(ends.first) || removedTags.contains(ends.second);
            if (lost || removedTags.contains(which)) {
                QVERIFY2(removedTags.contains(which), "a link whose end is gone must go");
                continue;
            }
            const auto [from, to] = now.equal_range(which);
            QVERIFY(from != to);
            // An end that named nothing may come to name something.
            QVERIFY2(std::any_of(from, to,
                                 [&](const auto& each) {
                                     return (ends.first.empty() || each.second.first == ends.first) &&
                                            (ends.second.empty() || each.second.second == ends.second);
                                 }),
                     qPrintable(QString("edit %1").arg(kind)));
        }
        for (const auto& problem : validate(edit->design)) {
            QVERIFY2(problem.code != "hardware.nesting", problem.message.c_str());
            QVERIFY2(problem.code != "hardware.duplicate-name", problem.message.c_str());
        }
        // Undoing a removal would need the whole; everything else loses nothing.
        if (kind != 2 && kind != 4 && kind != 6) QVERIFY(removedTags.empty());
        design = std::move(edit->design);
    }
}

QTEST_GUILESS_MAIN(TestTreeEdit)
#include "tst_hardware_tree_edit.moc"
