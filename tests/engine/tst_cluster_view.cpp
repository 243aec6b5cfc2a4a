// What a design says of itself as a system: which devices are alike, and the network between them.

#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/network/link_graph.h"
#include "hardware/views/cluster_view.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>

using namespace orrery;

namespace {

ClusterView viewOf(const std::string& id) {
    const auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    auto view = clusterView(loaded->hardware);
    if (!view) qFatal("%s", toText(view.error()).c_str());
    return std::move(*view);
}

}  // namespace

class TstClusterView : public QObject {
    Q_OBJECT
private slots:
    void everyPreset();
};

// Every design of the catalogue can be asked, and its tiers count its devices.
void TstClusterView::everyPreset() {
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        const ClusterView view = viewOf(entry.id);
        QVERIFY2(!view.groups.empty(), entry.id.c_str());
        for (const DeviceGroup& group : view.groups) {
            std::int64_t product = 1;
            std::string tiers;
            for (const NetworkTier& tier : group.tiers) {
                QCOMPARE(tier.inner, product);
                product *= tier.size;
                tiers += fmt::format(" | {} {} ×{} {}{} a2a {} {}{}", tier.name, toText(tier.source), tier.size,
                                     toText(tier.shape), tier.irregular ? "*" : "", format(tier.allToAll),
                                     format(tier.bandwidth), tier.betweenNodes ? " nodes" : "");
                QVERIFY(tier.allToAll <= tier.bandwidth);
            }
            QCOMPARE(product, group.count);
            if (group.count > 1 || view.groups.size() > 1)
                qInfo("%-18s %s ×%lld %s own %s%s", entry.id.c_str(), group.name.c_str(), (long long)group.count,
                      format(group.memory).c_str(), format(group.ownLinks).c_str(), tiers.c_str());
        }
        for (const Diagnostic& d : view.warnings) qInfo("   %s", toText(d).c_str());
    }
}

QTEST_GUILESS_MAIN(TstClusterView)
#include "tst_cluster_view.moc"
