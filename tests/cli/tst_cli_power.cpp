#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <fstream>

using namespace orrery::test;

class TestCliPower : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

private slots:
    void theCommandAnswersByItsSchema() {
        const QString path = folder_.filePath("k.csv");
        std::ofstream(path.toStdString())
            << "kernel,cycles,idle_sms,warp_instructions,fp_multiply_lanes\nfma,10000,0,100000,3200000\n";
        const auto out = cli({"power", "--counters", path, "--json"});
        QVERIFY2(out.exit == 0, out.text());
        for (const std::string& error : schemaErrors(out.out.toStdString(), "gpu-power")) QFAIL(error.c_str());
        const auto read = nlohmann::json::parse(out.out.toStdString());
        double sum = 0;
        for (const auto& part : read["kernels"][0]["parts_w"]) sum += part.get<double>();
        QVERIFY(std::abs(sum - read["kernels"][0]["power_w"].get<double>()) < 1e-9 * sum);
        QCOMPARE(cli({"power", "--counters", path, "--voltage", "none"}).exit, 2);
    }
};

QTEST_GUILESS_MAIN(TestCliPower)
#include "tst_cli_power.moc"
