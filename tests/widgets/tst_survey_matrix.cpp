// Does a survey say what the place of its dots means?

#include "widgets/common/theme.h"
#include "widgets/evidence/survey_matrix.h"

#include <QHeaderView>
#include <QPainter>

using namespace orrery::ui;

class TestSurveyMatrix : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    // Above each column, under its title, a number stands at each tick of the cells below it.
    void theScaleStandsAboveItsCells_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void theScaleStandsAboveItsCells() {
        QFETCH(bool, dark);
        Theme::instance().setMode(dark ? Mode::Dark : Mode::Light);
        SurveyPicture picture;
        picture.columns = {"GPU", "CPU", "TPU"};
        SurveyPicture::Cell cell;
        for (const double error : {0.01, 0.1, 1.0}) cell.marks.push_back({0, error, false, {}});
        picture.rows.push_back({"learned", 0, {cell, cell, cell}});
        SurveyMatrix matrix;
        matrix.setPicture(picture);
        matrix.resize(900, 300);
        matrix.show();
        QVERIFY(QTest::qWaitForWindowExposed(&matrix));
        QHeaderView* head = matrix.horizontalHeader();
        const QImage seen = head->grab().toImage();
        const int lines = QFontMetrics(Theme::instance().font(FontRole::Small)).height();
        const int top = head->height() - lines, bottom = head->height() - 3;
        const QColor ground = Theme::instance().colours().raised;
        const auto ink = [&](double x) {
            for (int at = int(x) - 4; at <= int(x) + 4; ++at)
                for (int y = top; y < bottom; ++y)
                    if (contrastRatio(seen.pixelColor(at, y), ground) > 3) return true;
            return false;
        };
        for (int column = 0; column < 3; ++column)
            for (std::size_t mark = 0; mark < 3; ++mark) {
                const double x = matrix.placeOf(0, column, mark).x();
                QVERIFY2(ink(x), qPrintable(QStringLiteral("column %1, mark %2").arg(column).arg(mark)));
                if (mark > 0) QVERIFY2(!ink((x + matrix.placeOf(0, column, mark - 1).x()) / 2), "between two numbers");
            }
    }

    // An empty cell says what is missing, whole where there is room for its lines.
    void emptyCellsSayWhatIsMissing() {
        const QString missing = QStringLiteral("no row of TPU is loaded; claimed without truth by roofline, loop-nest");
        SurveyPicture picture;
        for (const char* word : {"GPU", "TPU", "CPU", "NPU", "PIM"}) picture.columns << word;
        SurveyPicture::Cell empty, marked;
        empty.missing = missing;
        marked.marks.push_back({0, 0.1, false, {}});
        for (const char* line : {"analytical", "cycle-accurate", "trace-driven", "learned", "hybrid"})
            picture.rows.push_back({line, 0, {marked, empty, empty, empty, empty}});
        SurveyMatrix matrix;
        matrix.resize(900, 420);
        matrix.setPicture(picture);
        matrix.show();
        QVERIFY(QTest::qWaitForWindowExposed(&matrix));
        QCOMPARE(matrix.writtenIn(4, 4), missing);
        const QRectF last = matrix.visualRect(matrix.surveyModel()->index(4, 4));
        QVERIFY2(matrix.viewport()->rect().contains(last.toRect()), "no row hides below the others");
        // With little room it begins, and says that it goes on.
        matrix.resize(700, 200);
        QCoreApplication::processEvents();
        const QString cut = matrix.writtenIn(4, 4);
        QVERIFY2(cut.endsWith(QChar(0x2026)) && missing.startsWith(cut.left(10)), qPrintable(cut));
    }
};

QTEST_MAIN(TestSurveyMatrix)
#include "tst_survey_matrix.moc"
