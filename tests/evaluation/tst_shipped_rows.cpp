// Is it known which rows ship by what they say, whatever their table is called?

#include "evaluation/holdout.h"
#include "evaluation/reference_table.h"
#include "evaluation/shipped_rows.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <map>

using namespace orrery;

class TestShippedRows : public QObject {
    Q_OBJECT
private slots:
    // Rows ship if they are those that ship: by what they say, whatever their table is called.
    void rowsThatShipAreKnownByWhatTheySay() {
        const auto& tables = shippedReferences();
        const auto rows = selectRows(tables, *parseFilter("kind=gemm,device=h100-sxm|a100-80-sxm"));
        for (const char* words : {"", "fraction=0.5"}) {
            const auto holdout = parseHoldout(words, 1);
            QVERIFY(holdout);
            // Of one table, all its products.
            std::map<std::int32_t, std::vector<RowRef>> byTable;
            for (const RowRef ref : rows) byTable[ref.table].push_back(ref);
            std::size_t known = 0;
            for (const auto& [table, of] : byTable) {
                const auto split = splitRows(tables, of, *holdout);
                if (!split) continue;
                Diagnostics warnings;
                const auto fitted = kernelRows(tables, split->training, warnings);
                if (!fitted) continue;
                const std::string said = toText(split->holdout);
                const auto whole = selectRows(tables, *parseFilter("kind=gemm"));
                const bool all = std::ranges::count_if(whole, [&](RowRef ref) { return ref.table == table; }) ==
                                 static_cast<std::ptrdiff_t>(of.size());
                if (!all) continue;  // the table has products of other devices: its split is of those too
                for (const KernelRows& device : *fitted) {
                    CalibrationSource source = device.source;
                    QVERIFY2(rowsShip(source, said), qPrintable(QString::fromStdString(source.name + said)));
                    ++known;
                    // The same rows under a longer name are no table that ships, and neither are others under its name.
                    source.name = "my own " + source.name + " and more";
                    QVERIFY(!rowsShip(source, said));
                    source = device.source;
                    source.hash = "0123456789abcdef";
                    QVERIFY(!rowsShip(source, said));
                    source.hash.clear();
                    QVERIFY(!rowsShip(source, said));
                }
            }
            QVERIFY(known > 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestShippedRows)
#include "tst_shipped_rows.moc"
