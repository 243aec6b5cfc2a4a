#pragma once

// The Evidence page in a window of its own, with a table of a made-up machine.

#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/main_window.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

#include <cmath>
#include <memory>

namespace orrery::app::test {

/// Products on an H100 as a made-up machine would run them: 60 % of its peak, 70 % of its bandwidth and 4 us, with a
/// ripple. Only the window is tested here, no method.
inline QString writeTable(const QString& folder) {
    const QString file = folder + QStringLiteral("/h100_sxm__made-up-1.0__gemm.csv");
    QFile out(file);
    if (!out.open(QIODevice::WriteOnly)) return {};
    out.write("gemm_dtype,m,n,k,latency\n");
    for (const int m : {1, 16, 64, 100, 256, 500, 1024, 4096}) {
        for (const int n : {512, 2048, 4096, 6144, 8192}) {
            for (const int k : {256, 1024, 4096, 8192}) {
                const double flops = 2.0 * m * n * k, bytes = 2.0 * (1.0 * m * k + 1.0 * k * n + 1.0 * m * n);
                const double ripple = 1 + 0.05 * std::sin(m + 3 * n + 7 * k);
                const double seconds = ripple * (std::max(flops / (0.6 * 989e12), bytes / (0.7 * 3.35e12)) + 4e-6);
                out.write(QStringLiteral("bfloat16,%1,%2,%3,%4\n")
                              .arg(m)
                              .arg(n)
                              .arg(k)
                              .arg(seconds * 1e3, 0, 'g', 8)
                              .toUtf8());
            }
        }
    }
    return file;
}

class EvidenceWindow : public QObject {
protected:
    void begin() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
        table_ = writeTable(home_.path());
        QVERIFY(!table_.isEmpty());
    }
    void show() {
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        QTRY_VERIFY(window_->isReady());
        ui::Theme::instance().setAnimated(false);
        page_ = window_->findChild<EvidencePage*>();
        QVERIFY(page_);
        auto* documents = window_->findChild<QTabWidget*>("documents");
        documents->setCurrentWidget(page_->parentWidget()->parentWidget());
        QTRY_VERIFY(!page_->shelf()->isReading() && page_->schedules());  // the last of its tabs
    }
    /// Types into a field of the mapping and leaves it, as a person does.
    void enter(const char* field, const char* text) {
        auto* box = page_->findChild<QComboBox*>(field);
        QVERIFY2(box, field);
        box->setFocus();
        box->lineEdit()->selectAll();
        QTest::keyClicks(box->lineEdit(), text);
        QTest::keyClick(box->lineEdit(), Qt::Key_Return);
        QCoreApplication::processEvents();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    void showTab(const QString& title) {
        for (int tab = 0; tab < page_->tabs()->count(); ++tab) {
            if (page_->tabs()->tabText(tab) == title) return page_->tabs()->setCurrentIndex(tab);
        }
        QFAIL(qPrintable("no tab " + title));
    }
    void open() {
        page_->shelf()->open({table_});
        QTRY_VERIFY_WITH_TIMEOUT(!page_->shelf()->isReading(), 20000);
    }

    QTemporaryDir home_;
    QString table_;
    std::unique_ptr<MainWindow> window_;
    EvidencePage* page_ = nullptr;
};

}  // namespace orrery::app::test
