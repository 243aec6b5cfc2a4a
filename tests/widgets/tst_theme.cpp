#include "widgets/common/theme.h"
#include "widgets/common/theme_fonts.h"
#include "widgets/common/units_text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <QGridLayout>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMainWindow>
#include <QMenuBar>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QSlider>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableWidget>
#include <QToolBar>
#include <QTreeWidget>
#include <QtTest>

using namespace orrery;
using namespace orrery::ui;

class TestTheme : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    // A text without room ends in an ellipsis, as if it had been shortened before.
    void aNarrowComboBoxEndsInAnEllipsis() {
        const QString text = QStringLiteral("Tiles and waves, corrected");
        const auto drawn = [](const QString& shown, int width) {
            QComboBox box;
            box.setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
            box.addItem(shown);
            box.resize(width, box.sizeHint().height());
            return box.grab().toImage();
        };
        const int whole = QFontMetrics(QApplication::font()).horizontalAdvance(text);
        const QImage narrow = drawn(text, whole);  // the arrow takes the room of the last letters
        int same = 0;
        for (qsizetype kept = 1; kept < text.size() - 1; ++kept)
            same += narrow == drawn(text.left(kept) + QChar(0x2026), whole);
        QVERIFY(same > 0);
        QVERIFY(drawn(text, whole + 200) != drawn(text.left(10) + QChar(0x2026), whole + 200));
    }

    void textReadsOnEveryBackground_data() {
        QTest::addColumn<int>("mode");
        QTest::newRow("light") << int(Mode::Light);
        QTest::newRow("dark") << int(Mode::Dark);
    }
    void textReadsOnEveryBackground() {
        QFETCH(int, mode);
        Theme::instance().setMode(Mode(mode));
        const auto& c = Theme::instance().colours();
        const QList<std::pair<QString, QColor>> backgrounds = {
            {"window", c.window}, {"surface", c.surface}, {"raised", c.raised}, {"selection", c.selection}};
        const QList<std::pair<QString, QColor>> inks = {{"text", c.text},       {"mutedText", c.mutedText},
                                                        {"accent", c.accent},   {"good", c.good},
                                                        {"warning", c.warning}, {"bad", c.bad}};
        for (const auto& [inkName, ink] : inks) {
            for (const auto& [name, background] : backgrounds) {
                const double ratio = contrastRatio(ink, background);
                QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("%1 on %2: %3").arg(inkName, name).arg(ratio)));
            }
        }
        QVERIFY(contrastRatio(c.accentText, c.accent) >= 4.5);
        for (int k = 0; k < operatorKindCount; ++k) {
            const QColor fill = Theme::instance().operatorColour(OperatorKind(k));
            QVERIFY2(contrastRatio(Theme::instance().inkOn(fill), fill) >= 4.5, qPrintable(fill.name()));
            const double mark = contrastRatio(fill, c.surface);
            QVERIFY2(mark >= 2.2, qPrintable(QStringLiteral("%1 %2").arg(fill.name()).arg(mark)));
        }
    }
    void contrastFollowsWcag() {
        QCOMPARE(contrastRatio(Qt::black, Qt::white), 21.0);
        // WCAG's best known edge: #767676 on white is the lightest grey that passes AA, at 4.54.
        QVERIFY(std::abs(contrastRatio(QColor("#767676"), Qt::white) - 4.54) < 0.01);
    }
    void operatorKindsDiffer() {
        for (const Mode mode : {Mode::Light, Mode::Dark}) {
            Theme::instance().setMode(mode);
            QSet<QString> seen;
            for (int k = 0; k < operatorKindCount; ++k)
                seen << Theme::instance().operatorColour(OperatorKind(k)).name();
            QCOMPARE(seen.size(), operatorKindCount);
        }
    }
    void heatIsCividis() {
        // The polynomials stay within a few steps of matplotlib's table: ends and middle: (0, 34, 78), (124, 123, 120),
        // (254, 232, 56).
        const auto near = [](const QColor& a, const QColor& b) {
            return std::abs(a.red() - b.red()) <= 14 && std::abs(a.green() - b.green()) <= 14 &&
                   std::abs(a.blue() - b.blue()) <= 14;
        };
        QVERIFY2(near(Theme::instance().heat(0), QColor(0, 34, 78)), qPrintable(Theme::instance().heat(0).name()));
        QVERIFY2(near(Theme::instance().heat(0.5), QColor(124, 123, 120)),
                 qPrintable(Theme::instance().heat(0.5).name()));
        QVERIFY2(near(Theme::instance().heat(1), QColor(254, 232, 56)), qPrintable(Theme::instance().heat(1).name()));
        QCOMPARE(Theme::instance().heat(std::nan("")), Theme::instance().heat(0));
        double before = -1;
        for (int i = 0; i <= 20; ++i) {  // lightness never falls: a darker cell is always a smaller number
            const double now = contrastRatio(Theme::instance().heat(i / 20.0), Qt::black);
            QVERIFY(now >= before);
            before = now;
        }
    }
    void figuresAreTabular() {
        if (!QFontDatabase::families().contains("Inter")) QSKIP("fonts-inter is not installed");
        const QFontMetricsF metrics(Theme::instance().font(FontRole::Body));
        QCOMPARE(metrics.horizontalAdvance("11111"), metrics.horizontalAdvance("08888"));
        const QFontMetricsF plain([] {
            QFont f("Inter");
            f.setPixelSize(13);
            return f;
        }());
        QVERIFY(plain.horizontalAdvance("11111") < plain.horizontalAdvance("08888"));  // why it is needed
        QVERIFY(withTabularFigures("no font", "Inter", "Intab").isEmpty());
    }
    void sizesAreFour() {
        QSet<int> sizes;
        for (const FontRole role :
             {FontRole::Small, FontRole::Body, FontRole::Title, FontRole::Display, FontRole::Mono})
            sizes << Theme::instance().font(role).pixelSize();
        QCOMPARE(sizes.size(), 4);
    }
    void iconsFollowTheMode() {
        if (!QDir("/usr/share/icons/breeze").exists()) QSKIP("breeze-icon-theme is not installed");
        const auto ink = [](const QIcon& icon) {
            const QImage image = icon.pixmap(22, 22).toImage();
            double sum = 0, weight = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) {
                    const QColor c = image.pixelColor(x, y);
                    sum += c.lightnessF() * c.alphaF();
                    weight += c.alphaF();
                }
            return weight > 0 ? sum / weight : -1;
        };
        Theme::instance().setMode(Mode::Light);
        const double light = ink(Theme::instance().icon("document-open"));
        Theme::instance().setMode(Mode::Dark);
        const double dark = ink(Theme::instance().icon("document-open"));
        QVERIFY2(light >= 0 && dark > light, qPrintable(QString("%1 %2").arg(light).arg(dark)));
    }
    void missingIconIsDrawn() {
        const QIcon icon = Theme::instance().icon("no-such-icon-anywhere");
        QVERIFY(!icon.isNull());
        QVERIFY(!icon.pixmap(16, 16).isNull());
    }
    void sheetHasNoLooseTokens() {
        Theme::instance().setMode(Mode::Light);
        QVERIFY(!qApp->styleSheet().contains('@'));
        QVERIFY(!qApp->styleSheet().contains('$'));
        const QFont usual = Theme::instance().font(FontRole::Body);
        Theme::instance().setPresenter(true);
        QVERIFY(Theme::instance().font(FontRole::Body).pixelSize() > usual.pixelSize());
        Theme::instance().setPresenter(false);
    }
    // The back row sees a share of the picture, not pixels: type grows with the window, and no smaller one shrinks it.
    void aProjectorsTypeKeepsItsShareOfTheWindow() {
        Theme& theme = Theme::instance();
        const auto share = [&](const QSize& window) {
            theme.setPresenter(true, window);
            return theme.font(FontRole::Body).pixelSize() / double(window.height());
        };
        const double usual = share({1920, 1080});
        QCOMPARE(theme.scale(), 1.5);
        QVERIFY(std::abs(share({3840, 2160}) / usual - 1) < 0.03);
        QVERIFY(std::abs(share({2560, 1440}) / usual - 1) < 0.03);
        QVERIFY(share({1280, 720}) > usual);
        QVERIFY2(share({3840, 1080}) == usual, "as wide as two, no higher than one");
        QCOMPARE(qApp->style()->pixelMetric(QStyle::PM_ToolBarIconSize), 22);
        theme.setPresenter(false, {3840, 2160});
        QCOMPARE(theme.scale(), 1.0);
    }
    // A page's controls stand a dozen widgets deep. Restyled once for each of their ancestors, a change of theme would
    // hold up a window of all pages for seconds.
    void aChangeOfThemeRestylesEveryWidgetAFewTimes() {
        struct Leaf : QWidget {
            using QWidget::QWidget;
            int restyled = 0;
            bool event(QEvent* event) override {
                restyled += event->type() == QEvent::StyleChange ? 1 : 0;
                return QWidget::event(event);
            }
        };
        Theme::instance().setMode(Mode::Light);
        QWidget top;
        QWidget* inner = &top;
        for (int depth = 0; depth < 12; ++depth) inner = new QWidget(inner);
        auto* leaf = new Leaf(inner);
        top.show();
        QVERIFY(QTest::qWaitForWindowExposed(&top));
        leaf->restyled = 0;
        Theme::instance().setMode(Mode::Dark);
        QVERIFY2(leaf->restyled >= 1 && leaf->restyled <= 3, qPrintable(QString::number(leaf->restyled)));
        QCOMPARE(leaf->palette().color(QPalette::Window), Theme::instance().colours().window);
        Theme::instance().setMode(Mode::Light);
    }
    void quantitiesRead() {
        QCOMPARE(text(BytesPerSecond(3.35e12)), QString("3.35 TB/s"));
        QCOMPARE(percentText(0.423), QString("42 %"));
        QCOMPARE(percentText(0.0312), QString("3.1 %"));
        QCOMPARE(percentText(0.0996), QString("10 %"));
        QCOMPARE(percentText(0.0004), QString("< 0.1 %"));
        QCOMPARE(percentText(0), QString("0 %"));
        QCOMPARE(countText(1234567), QString("1,234,567"));
        QCOMPARE(countText(-123456), QString("−123,456"));
        QCOMPARE(countText(999), QString("999"));
    }
    void gallery_data() { textReadsOnEveryBackground_data(); }
    void gallery();
};

void TestTheme::gallery() {
    QFETCH(int, mode);
    Theme::instance().setMode(Mode(mode));
    const Theme& theme = Theme::instance();
    QMainWindow window;
    auto* file = window.menuBar()->addMenu("File");
    file->addAction(theme.icon("document-open"), "Open…");
    window.menuBar()->addMenu("Edit");
    auto* bar = window.addToolBar("Main");
    bar->setMovable(false);
    for (const char* name :
         {"document-open", "document-save", "edit-undo", "edit-redo", "media-playback-start", "zoom-fit-best"})
        bar->addAction(theme.icon(name), name);
    bar->addSeparator();
    auto* search = new QLineEdit;
    search->setPlaceholderText("Search operators");
    search->setMaximumWidth(200);
    bar->addWidget(search);
    auto* combo = new QComboBox;
    combo->addItems({"H100 SXM", "A100 80 GB"});
    bar->addWidget(combo);
    auto* page = new QWidget;
    auto* grid = new QGridLayout(page);
    grid->setContentsMargins(16, 16, 16, 16);
    auto* primary = new QPushButton("Open an example");
    primary->setProperty("primary", true);
    auto* disabled = new QPushButton("Disabled");
    disabled->setEnabled(false);
    auto* focused = new QLineEdit("3.35 TB/s");
    auto* spin = new QSpinBox;
    spin->setValue(32);
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setValue(40);
    auto* progress = new QProgressBar;
    progress->setValue(60);
    progress->setTextVisible(false);
    auto* check = new QCheckBox("Live");
    check->setChecked(true);
    auto* radio = new QRadioButton("Decode");
    radio->setChecked(true);
    int row = 0;
    for (const QList<QWidget*>& widgets : {QList<QWidget*>{primary, new QPushButton("Cancel"), disabled},
                                           {focused, spin, slider},
                                           {check, new QCheckBox("Off"), radio},
                                           {new QRadioButton("Prefill"), progress, new QGroupBox("Memory")}}) {
        for (int column = 0; column < widgets.size(); ++column) grid->addWidget(widgets[column], row, column);
        ++row;
    }
    auto* table = new QTableWidget(6, 4);
    table->setHorizontalHeaderLabels({"Operator", "Kind", "Time", "Share"});
    table->verticalHeader()->hide();
    table->setShowGrid(false);
    table->setAlternatingRowColors(true);
    table->setSelectionBehavior(QTableWidget::SelectRows);
    table->setSortingEnabled(true);
    for (int i = 0; i < 6; ++i) {
        table->setItem(i, 0, new QTableWidgetItem("layers/attn/qkv"));
        table->setItem(i, 1, new QTableWidgetItem("MatMul"));
        table->setItem(i, 2, new QTableWidgetItem("111.8 µs"));
        table->item(i, 2)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        table->setItem(i, 3, new QTableWidgetItem("4.1 %"));
    }
    table->selectRow(2);
    grid->addWidget(table, row++, 0, 1, 3);
    auto* swatches = new QWidget;
    auto* strip = new QHBoxLayout(swatches);
    for (int k = 0; k < operatorKindCount; ++k) {
        auto* label = new QLabel(QString::number(k));
        QPixmap dot(24, 24);
        dot.fill(theme.operatorColour(OperatorKind(k)));
        label->setPixmap(dot);
        strip->addWidget(label);
    }
    grid->addWidget(swatches, row++, 0, 1, 3);
    auto* tabs = new QTabWidget;
    tabs->addTab(page, "Hardware");
    tabs->addTab(new QWidget, "Workload");
    window.setCentralWidget(tabs);
    auto* dock = new QDockWidget("Library");
    auto* tree = new QTreeWidget;
    tree->header()->hide();
    auto* gpus = new QTreeWidgetItem(tree, {"GPUs"});
    for (const char* name : {"A100 80 GB", "H100 SXM", "H200", "B200"}) new QTreeWidgetItem(gpus, {name});
    tree->expandAll();
    gpus->child(1)->setSelected(true);
    dock->setWidget(tree);
    window.addDockWidget(Qt::LeftDockWidgetArea, dock);
    auto* right = new QDockWidget("Inspector");
    right->setWidget(new QListWidget);
    window.addDockWidget(Qt::RightDockWidgetArea, right);
    window.statusBar()->showMessage("Ready · 3 methods · 1.2 ms");
    window.resize(1100, 620);
    window.show();
    focused->setFocus();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    const QDir out(ORRERY_TEST_OUTPUT);
    QVERIFY(out.mkpath("."));
    QVERIFY(window.grab().save(out.filePath(QStringLiteral("theme-%1.png").arg(QTest::currentDataTag()))));
}

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
