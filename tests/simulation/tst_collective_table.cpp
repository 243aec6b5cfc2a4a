// The closed form against published runs of collectives, of 1 MiB and more: one node and several, rings, switches and
// trees. What was fitted: how channels fill (channel_fill) on the fitted half of eight A100 and H100.

#include "base/text/words.h"
#include "simulation/network/closed_form.h"
#include "support/measured_table.h"
#include "support/table_rows.h"

#include <QtTest/QtTest>

#include <array>
#include <cmath>
#include <optional>

using namespace orrery;

namespace {

NetworkTier tableTier(std::int64_t size, std::int64_t inner, double bandwidth, double latency, bool nodes) {
    NetworkTier out;
    out.name = nodes ? "fabric" : "nvlink";
    out.shape = nodes ? TopologyShape::FatTree : TopologyShape::NvSwitch;
    out.source = TierSource::Topology;
    out.size = size;
    out.inner = inner;
    out.bandwidth = out.allToAll = BytesPerSecond(bandwidth);
    out.latency = Seconds(latency);
    out.betweenNodes = nodes;
    return out;
}

/// A machine of the tables. Links as its makers state them; the latency of AWS's EFA as its own plugin of NCCL does
/// (aws-ofi-nccl, 75 us a message).
struct Machine {
    std::string_view start;
    double links = 0;         ///< B/s of a device inside a node
    std::int64_t inside = 8;  ///< devices of a node
    double adapters = 0;      ///< B/s of a node
    double latency = 0;       ///< s, between nodes
};
constexpr std::array machines{
    Machine{"8xA100", 300e9}, Machine{"8xH100 NVLink4 (ND", 450e9}, Machine{"8xH100 single", 450e9},
    Machine{"8xH200", 450e9}, Machine{"H200 NVLink4", 450e9}, Machine{"8xB200", 900e9}, Machine{"B200 NVLink5", 900e9},
    Machine{"4x8xB200 EFA", 900e9, 8, 400e9, 75e-6}, Machine{"DGX H100 (8", 450e9},
    Machine{"CoreWeave", 450e9, 8, 400e9}, Machine{"OCI BM.GPU.H100", 450e9, 8, 400e9},
    Machine{"Supermicro SYS-A21GE", 900e9},
    // One of four adapters: all that one GPU's traffic takes.
    Machine{"2 nodes x 1 H100", 450e9, 1, 50e9}, Machine{"NVLink2 V100", 150e9}, Machine{"NVLink3 A100", 300e9},
    Machine{"NVLink4 H100", 450e9}, Machine{"NVLink5 B200", 900e9}, Machine{"DGX A100 8x200Gb", 300e9, 8, 200e9},
    Machine{"DGX H100 8x400Gb", 450e9, 8, 400e9}, Machine{"GB200 NVL72", 900e9, 72}};

const Machine* machineOf(std::string_view system) {
    for (const Machine& one : machines)
        if (system.starts_with(one.start)) return &one;
    return nullptr;
}

std::optional<CollectiveOp> opOf(std::string_view name) {
    if (name == "all_reduce") return CollectiveOp::AllReduce;
    if (name == "all_to_all") return CollectiveOp::AllToAll;
    return std::nullopt;
}

class CollectiveTable {
public:
    testing::MeasuredTable table;

    /// `busbw` in GB/s; rows without a size are peaks, of 8 GiB.
    void add(const std::string& system, std::string_view collective, const std::string& algorithm, std::int64_t ranks,
             double bytes, double busbw) {
        const Machine* machine = machineOf(system);
        const auto op = opOf(collective);
        if (!machine || !op || ranks < 2 || busbw <= 0 || bytes < (1 << 20)) return;
        const std::int64_t local = std::min(machine->inside, ranks);
        std::vector<NetworkTier> tiers;
        if (machine->inside > 1) tiers.push_back(tableTier(machine->inside, 1, machine->links, 0, false));
        if (ranks > machine->inside)
            tiers.push_back(tableTier(ranks / local, machine->inside, machine->adapters, machine->latency, true));
        // A run that was told to leave the switches alone, or that its library so chose.
        if (algorithm.starts_with("Ring")) tiers.front().shape = TopologyShape::FullyConnected;
        const auto price = ClosedFormNetwork(tiers).price({*op, bytes, communicator(tiers, ranks, 1)});
        if (!price) qFatal("%s", toText(price.error()).c_str());
        const auto n = static_cast<double>(ranks);
        const double factor = (*op == CollectiveOp::AllReduce ? 2 : 1) * (n - 1) / n;
        const double measured = bytes * factor / (busbw * 1e9);
        // The error of a bus bandwidth.
        table.add(std::string(machine->start) + " " + std::string(collective),
                  system + algorithm + std::to_string(ranks) + std::to_string(bytes), 1 / price->seconds, 1 / measured,
                  1 / price->high, 1 / price->low);
        if (qEnvironmentVariableIsSet("ORRERY_ROWS"))
            qInfo("%s %s %lld %.0f MiB: %.1f GB/s, %.1f by %s, %+.1f %%", machine->start.data(), algorithm.c_str(),
                  static_cast<long long>(ranks), bytes / 1048576, busbw, bytes * factor / price->seconds / 1e9,
                  price->algorithm.c_str(), 100 * (measured / price->seconds - 1));
    }
};

}  // namespace

class TstCollectiveTable : public QObject {
    Q_OBJECT
private slots:
    void published();
};

void TstCollectiveTable::published() {
    const std::string data = std::string(ORRERY_REFERENCE) + "/training/data/";
    CollectiveTable seen;
    for (const testing::TableRow& row : testing::tableRows(data + "nccl/nccl_measured.csv")) {
        const auto cell = [&](std::string_view name) { return row.find(name)->second; };
        const auto ranks = wholeIn(cell("gpus"));
        const auto bytes = numberIn(cell("size_bytes")), bus = numberIn(cell("busbw_GBps"));
        if (!ranks || !bus || (!bytes && cell("algo") != "peak")) continue;
        const bool ring = cell("system") == "NVLink4 H100 ring";
        seen.add(cell("system"), cell("collective"), ring ? "Ring" : cell("algo"), *ranks,
                 bytes.value_or(8.0 * (1 << 30)), *bus);
    }
    for (const testing::TableRow& row : testing::tableRows(data + "e2e_more/collectives.csv")) {
        const auto cell = [&](std::string_view name) { return row.find(name)->second; };
        const auto ranks = wholeIn(cell("devices"));
        const auto bytes = numberIn(cell("size_bytes")), bus = numberIn(cell("busbw_gbps"));
        if (!ranks || !bus || !bytes || cell("note").find("EXPECTED") != std::string::npos) continue;
        seen.add(cell("system"), cell("collective"), cell("algo"), *ranks, *bytes, *bus);
    }
    const auto all = seen.table.all();
    if (all.rows == 0) QSKIP("no reference data");
    seen.table.print();
    QVERIFY(all.rows > 110);
    QVERIFY(all.mean < 0.08);
    QVERIFY(all.judgedMean < 0.08);
}

QTEST_GUILESS_MAIN(TstCollectiveTable)
#include "tst_collective_table.moc"
