#pragma once

// A stranger at the real main window: begins at "Draw your own", takes parts from the palette and the library, types
// into the inspector, draws links with the mouse, saves and reads again. A check that fails here must end its test:
// STEP.

#include "app/window/dock_set.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "support/drag.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/theme.h"
#include "widgets/library/component_palette.h"

#include <QtWidgets>

namespace orrery::app::test {

#define STEP(call)                              \
    do {                                        \
        call;                                   \
        if (QTest::currentTestFailed()) return; \
    } while (false)

class StudioWindow {
public:
    QTemporaryDir home;
    std::unique_ptr<MainWindow> window;

    void prepare() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home.path().toUtf8());
    }
    void start() {
        QFile::remove(home.filePath("orrery.ini"));
        window = std::make_unique<MainWindow>();
        window->resize(1600, 1000);
        window->show();
        window->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(window.get()));
        QTRY_VERIFY(window->isReady());
        ui::Theme::instance().setAnimated(false);
    }
    /// And presses "Draw your own".
    void startDrawing() {
        STEP(start());
        auto* draw = window->findChild<QAbstractButton*>("welcome.new");
        QVERIFY(draw && draw->isVisible());
        QTest::mouseClick(draw, Qt::LeftButton);
        QTRY_VERIFY(canvas()->isVisible());
    }

    ui::CanvasView* canvas() const { return window->page<HardwarePage>().canvas(); }
    const Component& root() const { return window->document().hardware()->root; }
    const Component& at(const ComponentPath& path) const { return *componentAt(root(), path); }
    QRectF boxOf(const ComponentPath& path) const {
        const auto& node = canvas()->scene().nodes()[std::size_t(canvas()->scene().find(path))];
        return {canvas()->toView(node.box.topLeft()), canvas()->toView(node.box.bottomRight())};
    }

    /// Chooses in the palette and clicks on the canvas at that point; the new part is the last child of `parent`.
    void place(const QString& id, const ComponentPath& parent, const QPoint& where) {
        window->docks().reveal("parts");
        auto* palette = window->findChild<ui::ComponentPalette*>();
        QVERIFY(palette);
        QTRY_VERIFY(palette->isVisible());
        const QModelIndex item = palette->indexOf(id);
        QVERIFY2(item.isValid(), qPrintable(id));
        palette->list()->scrollTo(item);
        QTest::mouseClick(palette->list()->viewport(), Qt::LeftButton, Qt::NoModifier,
                          palette->list()->visualRect(item).center());
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Place);
        const std::size_t before = at(parent).children.size();
        QTest::mouseMove(canvas(), where);
        QTest::mouseClick(canvas(), Qt::LeftButton, Qt::NoModifier, where);
        QVERIFY2(at(parent).children.size() == before + 1, qPrintable(id));
    }
    /// Into `parent`, near its lower right corner where nothing stands; of the sheet, at `share` of the canvas.
    void placeIn(const QString& id, const ComponentPath& parent, QPointF share = {0.5, 0.5}) {
        STEP(place(id, parent, roomIn(parent, share)));
        canvas()->fitAll();
    }
    QPoint roomIn(const ComponentPath& parent, QPointF share = {0.5, 0.5}) const {
        if (parent.empty()) return {int(canvas()->width() * share.x()), int(canvas()->height() * share.y())};
        return (boxOf(parent).bottomRight() - QPointF(4, 4)).toPoint();
    }
    /// Drops a device of the library at a point of the canvas; `parent` gets its parts.
    void dropDevice(const char* id, const ComponentPath& parent, const QPoint& where) {
        QMimeData data;
        data.setData("application/x-orrery-hardware", id);
        const std::size_t before = at(parent).children.size();
        QVERIFY(ui::fixture::dropAt(canvas(), where, &data, Qt::CopyAction));
        QVERIFY2(at(parent).children.size() > before, id);
        canvas()->fitAll();
    }
    /// With the link tool, from one point of the canvas to another.
    void drawLink(const QPoint& from, const QPoint& to) {
        window->components().clear();
        canvas()->setFocus();
        QTest::keyClick(canvas(), Qt::Key_L);
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Link);
        QTest::mouseMove(canvas(), from);
        QTest::mousePress(canvas(), Qt::LeftButton, Qt::NoModifier, from);
        for (int step = 1; step <= 8; ++step) QTest::mouseMove(canvas(), from + (to - from) * step / 8);
        QTest::mouseRelease(canvas(), Qt::LeftButton, Qt::NoModifier, to);
        canvas()->setTool(ui::CanvasView::Tool::Select);
    }
    /// Types a value into the inspector's row of the components.
    void type(const ComponentPaths& paths, const QString& attribute, const QString& text) {
        window->components().select(paths);
        typeInto(attribute, text);
    }
    /// The same of what the inspector shows.
    void typeInto(const QString& attribute, const QString& text) {
        QCoreApplication::processEvents();
        QWidget* field = nullptr;
        const auto find = [&] {
            field = nullptr;
            for (QWidget* one : window->findChildren<QWidget*>("inspector." + attribute))
                if (one->isVisible()) field = one;
            return field != nullptr;
        };
        if (!find()) {
            for (auto* more : window->findChildren<QToolButton*>("inspector.more"))
                if (more->isVisible() && !more->isChecked()) QTest::mouseClick(more, Qt::LeftButton);
        }
        QTRY_VERIFY2(find(), qPrintable(attribute));
        field->setFocus();
        const int before = window->document().undoStack()->index();
        if (auto* line = qobject_cast<QLineEdit*>(field)) {
            line->selectAll();
            QTest::keyClicks(line, text);
            QTest::keyClick(line, Qt::Key_Return);
        } else {
            QTest::keyClicks(field, text);
        }
        QCoreApplication::processEvents();
        QVERIFY2(window->document().undoStack()->index() == before + 1,
                 qPrintable(attribute + " = " + text + " is taken"));
        // The focus stays where one typed, also where the form is built anew.
        const QWidget* focus = window->focusWidget();
        QVERIFY2(focus && focus->objectName() == "inspector." + attribute,
                 qPrintable(attribute + " lost the focus to " + (focus ? focus->objectName() : QString("nothing"))));
    }
    /// Opens the menu of a button of the toolbar, and clicks an entry, by its id or its words.
    void chooseInMenu(const char* button, const QString& entry) {
        auto* chooser = window->findChild<QToolButton*>(button);
        QVERIFY2(chooser && chooser->isVisible() && chooser->isEnabled() && chooser->menu(), button);
        QMenu* menu = chooser->menu();
        menu->popup(chooser->mapToGlobal(QPoint(0, chooser->height())));
        auto* action = menu->findChild<QAction*>(entry);
        for (QAction* each : menu->actions())
            if (!action && each->text() == entry) action = each;
        QVERIFY2(action, qPrintable(entry));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
        menu->hide();
    }
    /// What is saved is what is read, byte for byte.
    void savesAndReads() {
        const QString file = home.filePath("drawn.yaml");
        QVERIFY_DONE(window->document().saveAs(file));
        const std::string saved = window->document().yaml();
        QVERIFY_DONE(window->document().load(file));
        QCOMPARE(window->document().yaml(), saved);
    }
    void picture(const char* name) {
        QDir().mkpath(ORRERY_TEST_OUTPUT "/studio");
        QTest::qWait(50);  // texts that have just come are laid out
        QVERIFY(window->grab().save(QStringLiteral(ORRERY_TEST_OUTPUT "/studio/%1.png").arg(name)));
    }
    /// The hardware page with all of the drawing.
    void pictureOfDrawing(const char* name) {
        auto* pages = window->centralWidget()->findChild<QTabWidget*>();
        pages->setCurrentWidget(window->page<HardwarePage>().parentWidget()->parentWidget());
        QVERIFY(window->page<HardwarePage>().isVisible());
        canvas()->fitAll();
        QTest::qWait(50);
        picture(name);
    }
};

}  // namespace orrery::app::test
