// Is anything cut, hidden or out of reach, in any state of the window? Every page in every layout, small and large,
// light and dark, with a small project and with a crowded one: long names, fifteen methods, two thousand parts.

#include "app/window/dock_layouts.h"
#include "app/window/main_window.h"
#include "app/window/page.h"
#include "app/window/studio.h"
#include "support/studio_fixture.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"

#include <QtWidgets>

#include <map>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

Project crowdedProject() {
    Project project = smallProject();
    const std::string longName = "A name that somebody gave in a hurry, with the revision of last week, number 17";
    Hardware& design = project.hardware.front();
    design.name = longName;
    const Component device = design.root.children.front();
    for (int i = 0; i < 120; ++i) {
        design.root.children.push_back(device);
        design.root.children.back().name = "accelerator_with_a_long_name_" + std::to_string(i);
    }
    project.workloads.front().name = longName + " (decode)";
    project.scenarios.front().hardware = design.name;
    project.scenarios.front().workload = project.workloads.front().name;
    project.methods.clear();
    for (const Method& method : builtinMethods())
        if (method.card.live && !asksForFile(method.card) && project.methods.size() < 15)
            project.methods.emplace_back(method.card.id);
    return project;
}

QString whereIs(const QWidget& widget) {
    QStringList names;
    for (const QWidget* at = &widget; at && names.size() < 4; at = at->parentWidget())
        names.prepend(at->objectName().isEmpty() ? QString::fromLatin1(at->metaObject()->className()).section("::", -1)
                                                 : at->objectName());
    return names.join(QStringLiteral(" › "));
}

bool scrolls(const QWidget& widget) {
    for (const QWidget* at = widget.parentWidget(); at; at = at->parentWidget())
        if (qobject_cast<const QAbstractScrollArea*>(at)) return true;
    return false;
}

bool isAct(const QWidget& widget) {
    if (widget.objectName().startsWith(QLatin1String("qt_"))) return false;
    const QWidget* parent = widget.parentWidget();
    if (qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QTabBar*>(parent) ||
        qobject_cast<const QDockWidget*>(parent) || qobject_cast<const QComboBox*>(parent) ||
        qobject_cast<const QAbstractSpinBox*>(parent) || qobject_cast<const QToolBar*>(parent))
        return false;
    return qobject_cast<const QAbstractButton*>(&widget) || qobject_cast<const QLineEdit*>(&widget) ||
           qobject_cast<const QComboBox*>(&widget) || qobject_cast<const QAbstractSpinBox*>(&widget) ||
           qobject_cast<const QAbstractSlider*>(&widget);
}

/// `3.2 ms`, `1638 GB/s`: half of it is another number.
bool isNumber(const QString& text) {
    static const QRegularExpression number(QStringLiteral("^[−+-]?[0-9][0-9.,  ]*( ?[A-Za-zµ%/×²]{0,8})$"));
    return number.match(text.trimmed()).hasMatch();
}

/// What of a widget's text does not fit: empty if all is there, or can be read on hover.
QString cut(const QWidget& widget) {
    QString text;
    int needs = 0;
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        // Such a label gives way by itself, and says all of it on hover once it is painted.
        const auto* ours = qobject_cast<const ui::Label*>(label);
        const bool givesWay = ours && ours->minimumSizeHint().width() < 40 && !isNumber(label->text());
        if (givesWay || label->wordWrap() || label->textFormat() == Qt::RichText || Qt::mightBeRichText(label->text()))
            return {};
        text = label->text();
        for (const QString& line : text.split(QLatin1Char('\n')))
            needs = std::max(needs, label->fontMetrics().horizontalAdvance(line));
        needs -= label->contentsRect().width();
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
        text = button->text();
        if (text.isEmpty()) return {};
        QString shown = text;
        needs = button->fontMetrics().horizontalAdvance(shown.remove(QLatin1Char('&'))) - button->width();
    } else if (const auto* line = qobject_cast<const QAbstractSpinBox*>(&widget)) {
        const auto* edit = line->findChild<const QLineEdit*>();
        text = edit ? edit->text() : QString();
        needs = edit ? edit->fontMetrics().horizontalAdvance(text) + 4 - edit->width() : 0;
    }
    if (needs <= 1 || text.isEmpty()) return {};
    if (isNumber(text)) return QStringLiteral("cuts the number '%1'").arg(text);
    return widget.toolTip().isEmpty() ? QStringLiteral("cuts '%1' and says it nowhere").arg(text) : QString();
}

}  // namespace

class TestWindowWalk : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void cleanup() { ui::Theme::instance().setPresenter(false); }

    void everyPageInEveryLayout_data() {
        QTest::addColumn<bool>("crowded");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("dark");
        QTest::newRow("small 1280×720 light") << false << QSize(1280, 720) << false;
        QTest::newRow("small 1600×1000 dark") << false << QSize(1600, 1000) << true;
        QTest::newRow("crowded 1280×720 dark") << true << QSize(1280, 720) << true;
        QTest::newRow("crowded 1920×1080 light") << true << QSize(1920, 1080) << false;  // 3840×2160 at twice the scale
    }
    void everyPageInEveryLayout() {
        QFETCH(bool, crowded);
        QFETCH(QSize, size);
        QFETCH(bool, dark);
        MainWindow window;
        window.setTheme(dark);
        window.resize(size);
        window.show();
        QVERIFY(QTest::qWaitFor([&] { return window.isReady(); }));
        ui::Theme::instance().setAnimated(false);
        window.document().reset(crowded ? crowdedProject() : smallProject());
        (void)QTest::qWaitFor([&] { return window.live().snapshot() && window.live().upToDate(); }, 20'000);
        std::map<QString, QString> faults;  // of each widget the first
        int states = 0;
        auto* tabs = window.findChild<QTabWidget*>("documents");
        for (const Layout layout : {Layout::Explore, Layout::Teach, Layout::Compare, Layout::Draw}) {
            for (Page* page : window.studio().router.pages()) {
                tabs->setCurrentWidget(page->parentWidget()->parentWidget());
                window.setLayoutMode(layout, true);
                QTest::qWait(1);
                ++states;
                const QString state = page->card().id + QLatin1Char(' ') + toText(layout);
                if (window.size() != size)
                    faults.try_emplace(
                        "window",
                        QStringLiteral("became %1×%2 (%3)").arg(window.width()).arg(window.height()).arg(state));
                look(window, state, faults);
            }
        }
        for (const auto& [widget, fault] : faults) qWarning("%s %s", qPrintable(widget), qPrintable(fault));
        QVERIFY(states >= 36);
        QVERIFY2(faults.empty(), qPrintable(QStringLiteral("%1 widgets are cut or out of reach").arg(faults.size())));
    }

private:
    static void look(const MainWindow& window, const QString& state, std::map<QString, QString>& faults) {
        const QRect all(QPoint(), window.size());
        for (const QWidget* widget : window.findChildren<QWidget*>()) {
            if (!widget->isVisible() || widget->window() != &window) continue;
            const auto fault = [&](const QString& what) {
                faults.try_emplace(whereIs(*widget), what + QStringLiteral(" (%1)").arg(state));
            };
            // What scrolls may be out of sight; what is in sight is whole.
            const bool inScroll = scrolls(*widget);
            const QRect there(widget->mapTo(&window, QPoint()), widget->size());
            if (isAct(*widget) && !inScroll) {
                if (!all.contains(there)) fault(QStringLiteral("lies outside of the window"));
                if (widget->width() < 8 || widget->height() < 8) fault(QStringLiteral("is squeezed to nothing"));
            }
            if (inScroll && widget->visibleRegion().isEmpty()) continue;
            if (const QString what = cut(*widget); !what.isEmpty()) fault(what);
        }
    }

    QTemporaryDir home_;
};

QTEST_MAIN(TestWindowWalk)
#include "tst_window_walk.moc"
