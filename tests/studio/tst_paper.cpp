// Can a report be read on paper? Rich text and SVG of Qt know no style sheet: figures must carry their looks, bars must
// be there, and words must stand apart.

#include "app/window/evidence/paper.h"
#include "app/window/evidence/paper_markup.h"
#include "store/export/exports.h"
#include "support/devices.h"
#include "workload/workload.h"

#include <QAbstractTextDocumentLayout>
#include <QImage>
#include <QPainter>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextFrame>
#include <QTextTable>
#include <QtTest>

#include <set>

using namespace orrery;
using namespace orrery::app;

namespace {

QString report() {
    WorkloadOptions options;
    options.phase = Phase::Decode;
    options.sequence = 512;
    Scenario scenario{orrery::fixture::device("h100-sxm"), loadWorkload({"llama-2-7b", options}).value()};
    Study study;
    study.name = "Paper";
    study.scenarios.push_back(scenario);
    std::vector<StudyResult> results;
    const auto executor = makeSerialExecutor();
    for (const char* id : {"roofline", "llm-inference"}) {
        EstimateContext context{*executor, {}};
        study.methods.emplace_back(id);
        results.push_back(
            {0, id, std::make_shared<const Estimate>(estimate(*findMethod(id), scenario, context).value()), {}});
    }
    return QString::fromStdString(reportHtml(study, results));
}

QStringList figuresIn(const QString& html) {
    static const QRegularExpression svg("<svg.*?</svg>", QRegularExpression::DotMatchesEverythingOption);
    QStringList all;
    for (auto found = svg.globalMatch(html); found.hasNext();) all << found.next().captured();
    return all;
}

/// How many points have about this colour.
int countOf(const QImage& image, QColor colour) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) {
            const QColor at = image.pixelColor(x, y);
            const int off = std::abs(at.red() - colour.red()) + std::abs(at.green() - colour.green()) +
                            std::abs(at.blue() - colour.blue());
            if (off < 30) ++count;
        }
    return count;
}

QImage drawn(const QString& svg) {
    QSvgRenderer renderer(svg.toUtf8());
    if (!renderer.isValid()) return {};
    QImage image(renderer.defaultSize(), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

}  // namespace

class TestPaper : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        html_ = report();
        paper_ = forPaper(html_);
    }

    void figuresHaveTheirLooks() {
        const QStringList figures = figuresIn(paper_);
        QVERIFY2(figures.size() > figuresIn(html_).size(), "rows of bars are figures on paper");
        for (const QString& figure : figures) {
            QVERIFY2(!figure.contains("var("), qPrintable(figure));
            const QImage image = drawn(figure);
            QVERIFY2(!image.isNull(), qPrintable(figure.left(200)));
            // Lines and dots without their looks are black.
            const double black = double(countOf(image, Qt::black)) / (image.width() * image.height());
            QVERIFY2(black < 0.02, qPrintable(QString("%1 of it is black: %2").arg(black).arg(figure.left(200))));
        }
        const QImage intervals = drawn(figures[0]), roofline = drawn(figures[1]);
        QVERIFY2(countOf(intervals, QColor("#1160c4")) > 50, "dots of answers");
        QVERIFY2(countOf(roofline, QColor("#b04a00")) > 200, "slopes of memory");
        const QString text = "<text";
        for (const QString& figure : figures) QCOMPARE(figure.count("font-size=\"12\""), figure.count(text));
    }

    void barsAreThere() {
        const QStringList figures = figuresIn(paper_);
        int bars = 0;
        for (const QString& figure : figures) {
            if (!figure.contains("<rect")) continue;
            ++bars;
            // A product's or a weight's part: most of any of them here.
            QVERIFY2(countOf(drawn(figure), QColor("#0072b2")) > 1000, qPrintable(figure));
        }
        QVERIFY2(bars >= 3, qPrintable(QString::number(bars)));  // two methods' time, one memory
    }

    void wordsStandApart() {
        QTextDocument document;
        document.setHtml(paper_);
        const QString text = document.toPlainText();
        for (const char* together : {"MatMulAttention", "AttentionElementwise", "tokenThroughput"})
            QVERIFY2(!text.contains(together), together);
        static const QRegularExpression glued("[a-z0-9](Throughput|Weights|Time of one)");
        const auto found = glued.match(text);
        QVERIFY2(!found.hasMatch(), qPrintable(text.mid(found.capturedStart() - 40, 80)));
        QVERIFY(text.contains("■"));
    }

    // The heads of a table are said again on every page that it goes on to.
    void headsOfTablesAreRepeated() {
        QTextDocument document;
        document.setHtml(
            forPaper("<html><body><table><tr><th>a</th><th class=\"n\">b</th></tr><tr><td>1</td>"
                     "<td>2</td></tr></table><table><tr><td>no</td><td>heads</td></tr></table></body>"));
        QList<int> heads;
        for (const QTextFrame* frame : document.rootFrame()->childFrames())
            if (const auto* table = qobject_cast<const QTextTable*>(frame))
                heads << table->format().toTableFormat().headerRowCount();
        QCOMPARE(heads, (QList<int>{1, 0}));
    }

    // No heading is the last thing on its page, however many lines stand before it.
    void headingsStandWithWhatTheyAreAbout() {
        constexpr double page = 600;
        int alone = 0, apart = 0;
        for (int lines = 1; lines < 60; ++lines) {
            const QString html = QString("<p>line</p>").repeated(lines) + "<h2>Part</h2><h3>Table</h3><table>" +
                                 QString("<tr><td>cell</td></tr>").repeated(6) + "</table>";
            for (const bool kept : {false, true}) {
                QTextDocument document;
                document.setHtml(html);
                document.setPageSize({400, page});
                if (kept) keepHeadings(document, page);
                const auto pageOf = [&](const QTextBlock& block) {
                    return static_cast<int>(document.documentLayout()->blockBoundingRect(block).top() / page);
                };
                QTextBlock heading = document.begin();
                while (heading.blockFormat().headingLevel() != 2) heading = heading.next();
                const QTextBlock first = heading.next().next();
                const bool together = pageOf(heading) == pageOf(first.next().next());
                alone += !kept && !together ? 1 : 0;
                apart += kept && !together ? 1 : 0;
            }
        }
        QVERIFY2(alone > 0, "some would stand alone");
        QCOMPARE(apart, 0);
    }

    // A row of several lines is on one page, below the heads that are said again there; what is longer than a page goes
    // on.
    void rowsAreNotCut() {
        constexpr double page = 500;
        QString html = "<h1>Rows</h1><table><thead><tr><th>a</th><th>b</th></tr></thead>";
        for (int row = 0; row < 60; ++row)
            html +=
                QString("<tr><td>row %1</td><td>%2</td></tr>")
                    .arg(row)
                    .arg(QString("several words that need more than one line ").repeated(row == 30 ? 200 : row % 5));
        int cut = 0, left = 0;
        for (const bool kept : {false, true}) {
            QTextDocument document;
            document.setHtml(html + "</table><p>after</p>");
            document.setPageSize({400, page});
            if (kept) keepRows(document, page);
            const QAbstractTextDocumentLayout& layout = *document.documentLayout();
            const auto* table = qobject_cast<QTextTable*>(document.rootFrame()->childFrames().front());
            QVERIFY(table);
            double end = 0;
            for (int row = 1; row < table->rows(); ++row) {
                const QTextTableCell first = table->cellAt(row, 0), last = table->cellAt(row, 1);
                const double top = layout.blockBoundingRect(first.firstCursorPosition().block()).top();
                const double bottom = layout.blockBoundingRect(last.lastCursorPosition().block()).bottom();
                QVERIFY(top >= end);  // none lies on another
                end = bottom;
                const bool apart = std::floor(top / page) != std::floor((bottom - 1) / page);
                if (row == 31) continue;
                (kept ? left : cut) += apart ? 1 : 0;
                // Below the heads of its page.
                if (kept)
                    QVERIFY(top - std::floor(top / page) * page >=
                            layout.blockBoundingRect(table->cellAt(0, 0).firstCursorPosition().block()).height());
            }
        }
        QVERIFY2(cut > 0, "some would be cut");
        QCOMPARE(left, 0);
    }

    // Every figure has its place on paper, those behind tables and headings too, which used to be lost from the third
    // page on: of square ones as wide as the page no page holds two.
    void everyFigureHasItsPlace() {
        constexpr int figures = 8;
        QString html = "<html><body><h1>Figures</h1>";
        for (int part = 0; part < figures; ++part) {
            html += QString(
                        "<h3>Part %1</h3><svg viewBox=\"0 0 600 600\"><rect x=\"0\" y=\"0\" width=\"600\" "
                        "height=\"600\" fill=\"#224466\"/></svg><p>said of it</p><table><tr><th>a</th><th>b</th></tr>")
                        .arg(part);
            for (int row = 0; row < 6; ++row)
                html += QString("<tr><td>row</td><td>%1</td></tr>").arg(QString("several words ").repeated(row * 4));
            html += "</table>";
        }
        QTemporaryDir folder;
        const QString page = folder.filePath("report.html"), pdf = folder.filePath("report.pdf");
        QFile file(page);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write((html + "</body></html>").toUtf8());
        file.close();
        QCOMPARE(writePdf(page, pdf), QString());
        QFile written(pdf);
        QVERIFY(written.open(QIODevice::ReadOnly));
        static const QRegularExpression sheet("/Type /Page\\b(?!s)");
        const auto pages = QString::fromLatin1(written.readAll()).count(sheet);
        QVERIFY2(pages >= figures, qPrintable(QString::number(pages)));
    }

    void aPdfIsWritten() {
        QTemporaryDir folder;
        const QString page = folder.filePath("report.html"), pdf = folder.filePath("report.pdf");
        QFile file(page);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(html_.toUtf8());
        file.close();
        QCOMPARE(writePdf(page, pdf), QString());
        QVERIFY(QFileInfo(pdf).size() > 10'000);
    }

private:
    QString html_, paper_;
};

QTEST_MAIN(TestPaper)
#include "tst_paper.moc"
