// The domain check on measured kernels: rows of the same set stay in, rows of other regimes and devices are flagged.

#include "evaluation/reference_table.h"
#include "learning/domain.h"
#include "learning/training.h"
#include "methods/learned/plain_features.h"

#include <QDir>
#include <QtTest/QtTest>

using namespace orrery;

namespace {

std::vector<KernelRows> productsOf(const QString& device) {
    const QDir folder(ORRERY_REFERENCE "/gpu/aiconfigurator");
    std::vector<std::string> files;
    for (const QFileInfo& file : folder.entryInfoList({device + "__trtllm*__gemm.csv.gz"})) {
        files.push_back(file.filePath().toStdString());
    }
    const auto tables = readReferences(files);
    if (!tables || tables->empty()) return {};
    Diagnostics warnings;
    auto rows = kernelRows(*tables, *parseFilter("dtype=bf16,kind=gemm"), warnings);
    return rows ? std::move(*rows) : std::vector<KernelRows>();
}

using Wanted = std::function<bool(const Kernel&)>;
std::vector<double> featuresOf(const KernelRows& rows, const Wanted& wanted) {
    const std::size_t columns = plainFeatureNames(KernelKind::Gemm).size();
    std::vector<double> out;
    for (const Kernel& kernel : rows.kernels) {
        if (!wanted(kernel)) continue;
        out.resize(out.size() + columns);
        plainFeatures(kernel, rows.gpu, std::span(out).last(columns));
    }
    return out;
}

double flagged(const Domain& domain, std::span<const double> rows) {
    const std::size_t columns = domain.mean.size();
    std::size_t outside = 0;
    for (std::size_t begin = 0; begin < rows.size(); begin += columns) {
        outside += domain.check(rows.subspan(begin, columns)) == DomainVerdict::Outside;
    }
    return rows.empty() ? -1 : double(outside) / double(rows.size() / columns);
}

}  // namespace

class TestLearningDomainReference : public QObject {
    Q_OBJECT
    std::vector<KernelRows> h100_, a100_;

private slots:
    void initTestCase() {
        if (!QDir(ORRERY_REFERENCE "/gpu/aiconfigurator").exists()) QSKIP("no reference data at " ORRERY_REFERENCE);
        h100_ = productsOf("h100_sxm");
        a100_ = productsOf("a100_sxm");
        QVERIFY(h100_.size() == 1 && a100_.size() == 1);
    }

    void heldOutRowsStayIn() {
        const std::size_t columns = plainFeatureNames(KernelKind::Gemm).size();
        const auto all = featuresOf(h100_[0], [](const Kernel&) { return true; });
        for (const std::size_t count : {std::size_t(50), all.size() / columns / 5}) {
            const Split split = splitCount(all.size() / columns, count, 1);
            std::vector<double> training, test;
            for (const auto r : split.training)
                training.insert(training.end(), &all[r * columns], &all[r * columns] + columns);
            for (const auto r : split.test) test.insert(test.end(), &all[r * columns], &all[r * columns] + columns);
            const double share = flagged(fitDomain(training, columns), test);
            QVERIFY2(share >= 0 && share <= 0.05, qPrintable(QString("%1 of %2 rows").arg(share).arg(count)));
        }
    }

    void otherRegimesAndDevicesAreFlagged() {
        const std::size_t columns = plainFeatureNames(KernelKind::Gemm).size();
        const Wanted small = [](const Kernel& k) { return k.m <= 1024 && k.n <= 8192 && k.k <= 8192; };
        const Domain domain = fitDomain(featuresOf(h100_[0], small), columns);
        QVERIFY(flagged(domain, featuresOf(h100_[0], small)) <= 0.05);
        const auto larger = [](const Kernel& k) { return k.m >= 2048 || k.n >= 16384 || k.k >= 16384; };
        const double regimes = flagged(domain, featuresOf(h100_[0], larger));
        QVERIFY2(regimes >= 0.9, qPrintable(QString::number(regimes)));
        const double devices = flagged(domain, featuresOf(a100_[0], small));
        QVERIFY2(devices >= 0.9, qPrintable(QString::number(devices)));
    }
};

QTEST_GUILESS_MAIN(TestLearningDomainReference)
#include "tst_learning_domain_reference.moc"
