#include "base/random.h"
#include "simulation/event_kernel.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <tuple>
#include <vector>

using namespace orrery;

class TestEventKernel : public QObject {
    Q_OBJECT
private slots:
    void eventsOfOneTickKeepTheirOrder() {
        EventQueue queue;
        for (std::uint32_t i = 0; i < 100; ++i) queue.schedule(7, 0, i);
        queue.schedule(3, 1, 0);
        QCOMPARE(queue.next(), SimTime{3});
        QCOMPARE(queue.pop().code, 1u);
        for (std::uint32_t i = 0; i < 100; ++i) QCOMPARE(queue.pop().subject, i);
        QVERIFY(queue.empty());
        QCOMPARE(queue.now(), SimTime{7});
    }
    void nothingHappensInThePast() {
        EventQueue queue;
        queue.schedule(10, 0, 0);
        queue.pop();
        queue.schedule(4, 0, 1);
        QCOMPARE(queue.pop().time, SimTime{10});
        QCOMPARE(queue.now(), SimTime{10});
    }
    void agreesWithASortedListOnRandomSchedules() {
        RandomStream random(20261121);
        for (int round = 0; round < 50; ++round) {
            EventQueue queue;
            std::vector<std::tuple<SimTime, std::uint64_t>> pending;  // time, order: a slow twin
            std::uint64_t order = 0;
            SimTime now = 0;
            for (int step = 0; step < 400; ++step) {
                if (pending.empty() || random.below(3) > 0) {
                    const auto time = now + static_cast<SimTime>(random.below(20));
                    queue.schedule(time, 0, static_cast<std::uint32_t>(order));
                    pending.emplace_back(time, order++);
                } else {
                    const auto first = std::min_element(pending.begin(), pending.end());
                    const SimEvent event = queue.pop();
                    QCOMPARE(event.time, std::get<0>(*first));
                    QCOMPARE(std::uint64_t{event.subject}, std::get<1>(*first));
                    now = event.time;
                    pending.erase(first);
                }
            }
            QCOMPARE(queue.size(), pending.size());
        }
    }
    void steadyStateAllocatesNothing() {
        EventQueue queue;
        queue.reserve(64);
        const auto room = queue.capacity();
        for (std::uint32_t i = 0; i < 64; ++i) queue.schedule(i, 0, i);
        for (std::uint32_t i = 0; i < 100000; ++i) {
            const SimEvent event = queue.pop();
            queue.schedule(event.time + 64, 0, event.subject);
        }
        QCOMPARE(queue.capacity(), room);
        queue.clear();
        QCOMPARE(queue.capacity(), room);
        QVERIFY(queue.empty() && queue.now() == 0);
    }
};

QTEST_APPLESS_MAIN(TestEventKernel)
#include "tst_event_kernel.moc"
