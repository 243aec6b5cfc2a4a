// Designs share the parts that they have in common: does a change ever reach another copy, and is only the way to it
// copied?

#include "base/random.h"
#include "hardware/component.h"

#include <QtTest/QtTest>

using namespace orrery;

namespace {

Component part(std::string name, std::vector<Component> children = {}) {
    Component made;
    made.kind = ComponentKind::Buffer;
    made.name = std::move(name);
    made.children = std::move(children);
    return made;
}

/// The same tree without any sharing.
struct Plain {
    std::string name;
    std::vector<Plain> children;
    bool operator==(const Plain&) const = default;
};
Plain plain(const Component& component) {
    Plain made{component.name, {}};
    for (const Component& child : component.children) made.children.push_back(plain(child));
    return made;
}

}  // namespace

class TestComponentList : public QObject {
    Q_OBJECT
private slots:
    void behavesAsAList() {
        ComponentList list;
        QVERIFY(list.empty() && list.size() == 0 && list.begin() == list.end());
        list.push_back(part("a"));
        list.insert(list.begin(), part("b"));
        list.emplace_back(part("c"));
        list.reserve(10);
        QCOMPARE(list.size(), std::size_t(3));
        QCOMPARE(list.front().name + list[1].name + list.back().name, std::string("bac"));
        QCOMPARE(list.erase(list.begin() + 1)->name, std::string("c"));
        const std::vector<Component> copied = list;
        QCOMPARE(copied.size(), std::size_t(2));
        QCOMPARE(list.size(), std::size_t(2));
        const std::vector<Component> moved = std::move(list);
        QVERIFY(moved == copied);
        QVERIFY(ComponentList(copied) == ComponentList({part("b"), part("c")}));
        QVERIFY(!(ComponentList(copied) == ComponentList({part("b")})));
        QVERIFY(ComponentList() == ComponentList(std::vector<Component>()));
    }

    // Only the lists on the way to a change become new ones.
    void anEditCopiesTheWayToItAlone() {
        Hardware before;
        before.root = part("root", {part("left", {part("x"), part("y")}), part("right", {part("z")})});
        Hardware after = before;
        const auto& was = std::as_const(before).root.children;
        QCOMPARE(std::as_const(after).root.children.begin(), was.begin());
        componentAt(after.root, {0, 1})->count = 7;
        const auto& is = std::as_const(after).root.children;
        QVERIFY(is.begin() != was.begin());
        QVERIFY(is[0].children.begin() != was[0].children.begin());
        QCOMPARE(is[1].children.begin(), was[1].children.begin());
        QCOMPARE(was[0].children[1].count, std::int64_t(1));
        QCOMPARE(is[0].children[1].count, std::int64_t(7));
        QVERIFY(!(before == after));
    }

    // Beside each design its twin that shares nothing; a thousand random edits of random copies.
    void copiesNeverSeeEachOther() {
        RandomStream random(4);
        std::vector<Component> designs{part("root", {part("a", {part("b")}), part("c")})};
        std::vector<Plain> twins{plain(designs.front())};
        for (int step = 0; step < 2000; ++step) {
            if (designs.size() < 12 || random.below(10) == 0) {
                const auto from = random.below(designs.size());
                designs.push_back(Component(designs[from]));
                twins.push_back(Plain(twins[from]));
            }
            if (designs.size() > 20) {
                const auto gone = std::ptrdiff_t(random.below(designs.size()));
                designs.erase(designs.begin() + gone);
                twins.erase(twins.begin() + gone);
            }
            const auto which = random.below(designs.size());
            Component* at = &designs[which];
            Plain* twin = &twins[which];
            while (!twin->children.empty() && random.below(3) != 0) {
                const auto child = random.below(twin->children.size());
                at = &at->children[child];
                twin = &twin->children[child];
            }
            const std::string name = "n" + std::to_string(step);
            const auto size = twin->children.size();
            const auto index = std::ptrdiff_t(random.below(size + 1));
            switch (random.below(4)) {
                case 0:
                    at->name = twin->name = name;
                    break;
                case 1:
                    at->children.insert(at->children.begin() + index, part(name));
                    twin->children.insert(twin->children.begin() + index, Plain{name, {}});
                    break;
                case 2:
                    if (index == std::ptrdiff_t(size)) break;
                    at->children.erase(at->children.begin() + index);
                    twin->children.erase(twin->children.begin() + index);
                    break;
                default:
                    at->children.push_back(part(name, {part("inner")}));
                    twin->children.push_back({name, {{"inner", {}}}});
                    break;
            }
            if (step % 50 == 0)
                for (std::size_t i = 0; i < designs.size(); ++i) QVERIFY(plain(designs[i]) == twins[i]);
        }
        for (std::size_t i = 0; i < designs.size(); ++i)
            for (std::size_t j = 0; j < designs.size(); ++j) QCOMPARE(designs[i] == designs[j], twins[i] == twins[j]);
    }
};

QTEST_GUILESS_MAIN(TestComponentList)
#include "tst_component_list.moc"
