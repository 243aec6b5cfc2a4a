// A run that is cut between two kernels and goes on from the file gives what the whole run gives, to the last count;
// and what is no such file, or is of something else, is named.

#include "base/hash.h"
#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <cstring>

using namespace orrery;
using namespace orrery::gpusim;
using orrery::test::GpuTraces;

class TestGpuSnapshot : public QObject {
    Q_OBJECT
    GpuTraces traces_;
    std::vector<TraceCommand> list_;

    static Machine machine(std::vector<std::string> options = {}) {
        const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", std::move(options)});
        if (!got) qFatal("%s", toText(got.error()).c_str());
        return got->machine;
    }
    static Machine hardware() {
        Machine out = machine();
        useHardwareSetting(out, *generationOf("volta"));
        return out;
    }
    // Reads and writes twice what L2 holds, so that lines are on their way to memory when the kernel ends.
    TraceCommand streaming(int base, int stream = 0) {
        const auto text = GpuTraces::trace({64, 256, 0, 32, stream}, [&](int b, int w) {
            QString lines;
            for (int i = 0; i < 8; ++i) {
                const int at = base + ((b * 8 + w) * 8 + i) * 128;
                const auto line = [&](const char* form) { return QString(form).arg(at, 0, 16); };
                lines += orrery::test::traceLine(qPrintable(line("1 R4 LDG.E.SYS 1 R2 4 1 0x%1 4 0")), 32 * i);
                lines += orrery::test::traceLine(qPrintable(line("0 STG.E.SYS 2 R2 R4 4 1 0x%1 4 0")), 32 * i + 16);
            }
            return lines;
        });
        return {TraceCommand::Kind::Kernel, 0, 0, traces_.write(text).toStdString(), {}};
    }
    struct Run {
        std::vector<KernelResult> kernels;
        std::string snapshot;
    };
    Run run(const Machine& machine, std::size_t until, const std::string& from = {}, int threads = 1) {
        Run out;
        SimulateOptions options;
        options.untilKernel = until, options.resume = from, options.threads = threads;
        if (until > 0) options.snapshot = &out.snapshot;
        auto got = simulate(machine, list_, options);
        if (!got)
            QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
        else
            out.kernels = std::move(*got);
        return out;
    }
    static bool same(const KernelResult& a, const KernelResult& b) {
        return a.name == b.name && a.startCycle == b.startCycle && a.endCycle == b.endCycle &&
               std::memcmp(&a.counts, &b.counts, sizeof(Counters)) == 0;
    }
    QString refusal(const Machine& machine, std::size_t until, const std::string& from,
                    const std::vector<TraceCommand>& list) {
        std::string out;
        SimulateOptions options;
        options.untilKernel = until, options.resume = from, options.snapshot = &out;
        const auto got = simulate(machine, list, options);
        return got || got.error().code != "gpu.snapshot" ? QString() : QString::fromStdString(toText(got.error()));
    }

private slots:
    void initTestCase() {
        list_ = {streaming(0x40000000),
                 streaming(0x40040000),
                 {TraceCommand::Kind::Copy, 0x40000000, 65536, {}, {}},
                 streaming(0x40000000),
                 streaming(0x40080000)};
    }
    void aRunInPartsIsTheWholeRun_data() {
        QTest::addColumn<bool>("real");
        QTest::newRow("compatibility") << false;
        QTest::newRow("hardware") << true;
    }
    void aRunInPartsIsTheWholeRun() {
        QFETCH(bool, real);
        const Machine m = real ? hardware() : machine();
        const auto whole = run(m, 0).kernels;
        QCOMPARE(whole.size(), std::size_t{4});
        // What one kernel leaves must matter to the next, or this test could not fail.
        QVERIFY(whole[2].counts.l2.readHits != whole[0].counts.l2.readHits);
        bool underWay = false;
        std::string last;
        std::vector<KernelResult> chained;
        for (std::size_t cut = 1; cut < 4; ++cut) {
            const Run first = run(m, cut);
            QCOMPARE(first.kernels.size(), cut);
            const auto rest = run(m, 0, first.snapshot, cut == 2 ? 2 : 1).kernels;
            QCOMPARE(rest.size(), 4 - cut);
            for (std::size_t i = 0; i < 4; ++i)
                QVERIFY2(same(i < cut ? first.kernels[i] : rest[i - cut], whole[i]),
                         qPrintable(QString("cut after %1, kernel %2").arg(cut).arg(i + 1)));
            std::uint64_t requests = 0;
            std::memcpy(&requests, first.snapshot.data() + first.snapshot.find('\n') + 1, sizeof requests);
            underWay = underWay || requests > 0;
            // From snapshot to snapshot.
            const Run next = run(m, cut, last);
            QCOMPARE(next.kernels.size(), std::size_t{1});
            chained.push_back(next.kernels.front());
            last = next.snapshot;
        }
        for (std::size_t i = 0; i < chained.size(); ++i) QVERIFY(same(chained[i], whole[i]));
        QVERIFY(underWay);
    }
    void otherFilesAreNamed() {
        const Machine m = machine();
        const std::string good = run(m, 2).snapshot;
        QVERIFY(refusal(m, 0, "hello", list_).contains("no snapshot"));
        QVERIFY(refusal(m, 0, good.substr(0, good.size() / 2), list_).contains("cut short"));
        std::string damaged = good;
        damaged[good.size() / 3] = static_cast<char>(damaged[good.size() / 3] ^ 1);
        QVERIFY(refusal(m, 0, damaged, list_).contains("damaged"));
        QVERIFY(refusal(m, 0, good.substr(0, good.find('\n') + 1), list_).contains("cut short"));
        // Of a build whose members look otherwise: whole, and yet not ours.
        const auto begin = std::string_view("orrery-gpu-snapshot 1 ").size(), end = good.find('\n');
        std::string about = good.substr(begin, end - begin - 16);
        about.replace(0, about.find(' '), "1-2-3-4");
        const std::string state = good.substr(end + 1);
        QVERIFY(refusal(m, 0, good.substr(0, begin) + about + Hash().add(about).add(state).hex() + "\n" + state, list_)
                    .contains("another version"));
        QVERIFY(refusal(machine({"-gpgpu_scheduler", "gto"}), 0, good, list_).contains("another machine"));
        QVERIFY(refusal(hardware(), 0, good, list_).contains("another machine"));
        auto other = list_;
        std::swap(other[0], other[1]);
        QVERIFY(refusal(m, 0, good, other).contains("another list"));
        QVERIFY(refusal(m, 0, good, {list_[0]}).contains("another list"));
        QVERIFY(refusal(m, 2, good, list_).contains("after kernel 2"));
        QVERIFY(refusal(m, 9, {}, list_).contains("no kernel 9"));
    }
    void kernelsThatOverlapHaveNoEndBetween() {
        const std::vector<TraceCommand> streams{streaming(0x40000000, 1), streaming(0x50000000, 2)};
        QVERIFY(refusal(hardware(), 1, {}, streams).contains("side by side"));
        // On a machine that runs one at a time they end one after the other.
        QVERIFY(refusal(machine(), 1, {}, streams).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestGpuSnapshot)
#include "tst_gpu_snapshot.moc"
