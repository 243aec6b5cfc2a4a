// A map whose copies share what is the same: is it a map, and do copies keep their values?

#include "base/random.h"
#include "widgets/common/shared_sorted_map.h"

#include <QtTest/QtTest>

#include <map>

using namespace orrery;

namespace {

using Shared = ui::SharedSortedMap<int>;
using Plain = std::map<std::string, int, std::less<>>;

bool same(const Shared& shared, const Plain& plain) {
    if (shared.size() != plain.size() || shared.empty() != plain.empty()) return false;
    auto at = plain.begin();
    for (const auto& [key, value] : shared) {
        if (at == plain.end() || at->first != key || at->second != value) return false;
        ++at;
    }
    return at == plain.end();
}

}  // namespace

class TestSharedSortedMap : public QObject {
    Q_OBJECT
private slots:
    void isAMapInEveryCopy() {
        RandomStream random(2);
        std::vector<Shared> maps(1);
        std::vector<Plain> twins(1);
        for (int step = 0; step < 20'000; ++step) {
            if (step % 100 == 0 && maps.size() < 10) {
                const auto from = random.below(maps.size());
                maps.push_back(Shared(maps[from]));
                twins.push_back(Plain(twins[from]));
            }
            const auto which = random.below(maps.size());
            Shared& map = maps[which];
            Plain& twin = twins[which];
            const std::string key = std::to_string(random.below(1500));
            const int value = int(random.below(4));
            switch (random.below(6)) {
                case 0:
                    QCOMPARE(map.erase(key), twin.erase(key));
                    break;
                case 1:
                    map.insert({key, value});
                    twin.insert({key, value});
                    break;
                case 2:
                    if (const auto at = map.lower_bound(key); at != map.end()) {
                        const std::string found = at->first;
                        QCOMPARE(found, twin.lower_bound(key)->first);
                        const auto next = map.erase(at);
                        const auto twinNext = twin.erase(twin.find(found));
                        QCOMPARE(next == map.end(), twinNext == twin.end());
                        if (next != map.end()) QCOMPARE(next->first, twinNext->first);
                    } else {
                        QVERIFY(twin.lower_bound(key) == twin.end());
                    }
                    break;
                case 3:
                    if (const auto at = map.find(key); at != map.end()) {
                        map.assign(at, value);
                        twin.at(key) = value;
                    }
                    QCOMPARE(map.contains(key), twin.contains(key));
                    break;
                default:
                    map[key] = value;
                    twin[key] = value;
                    break;
            }
            if (step % 500 == 0)
                for (std::size_t i = 0; i < maps.size(); ++i) QVERIFY(same(maps[i], twins[i]));
        }
        for (std::size_t i = 0; i < maps.size(); ++i) {
            QVERIFY(same(maps[i], twins[i]));
            for (std::size_t j = 0; j < maps.size(); ++j) {
                QCOMPARE(maps[i] == maps[j], twins[i] == twins[j]);
                // What the differences say turns one into the other.
                Plain made = twins[i];
                std::string last;
                Shared::differences(maps[i], maps[j], [&](const std::string& key, const int* was, const int* is) {
                    QVERIFY(last.empty() || last < key);
                    last = key;
                    QCOMPARE(made.contains(key), was != nullptr);
                    if (was) QCOMPARE(made.at(key), *was);
                    if (is)
                        made[key] = *is;
                    else
                        made.erase(key);
                });
                QVERIFY(made == twins[j]);
            }
        }
    }

    void aCopySharesAllButTheChange() {
        Shared map;
        for (int i = 0; i < 50'000; ++i) map[std::to_string(i)] = i;
        Shared copy = map;
        copy["31"] = -1;
        int looked = 0;
        Shared::differences(map, copy, [&looked](const auto&...) { ++looked; });
        QCOMPARE(looked, 1);
        QCOMPARE(map.find("31")->second, 31);
        QCOMPARE(&*map.find("7"), &*copy.find("7"));
    }
};

QTEST_GUILESS_MAIN(TestSharedSortedMap)
#include "tst_shared_sorted_map.moc"
