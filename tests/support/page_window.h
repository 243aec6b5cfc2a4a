#pragma once

// The real main window with one of its pages, for tests with mouse and keys: a class of Qt Test derives from it and
// calls prepare(), open() and close() where a test class, a test begins and ends.

#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"

#include <QPushButton>
#include <QUndoStack>

#include <memory>

namespace orrery::app::test {

template <class PageType>
class PageTest : public QObject {
protected:
    void prepare() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void open() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
        page_ = window_->findChild<PageType*>();
        QVERIFY(page_);
    }
    void close() { window_.reset(); }
    QPushButton* button(const char* name) const { return page_->template findChild<QPushButton*>(QLatin1String(name)); }
    void click(const char* name) const {
        QVERIFY(button(name)->isEnabled());
        QTest::mouseClick(button(name), Qt::LeftButton);
    }
    static void type(ui::ValueEdit* edit, const char* text) {
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
    QUndoStack* undo() const { return window_->document().undoStack(); }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    PageType* page_ = nullptr;
};

}  // namespace orrery::app::test
