#include "app/window/evidence/paper.h"

#include "app/window/evidence/paper_markup.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextFrame>
#include <QTextObjectInterface>
#include <QTextTable>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace orrery::app {

namespace {

constexpr double inch = 25.4, pixelsPerInch = 96;
constexpr int dotsPerInch = 1200;
constexpr double margin = 16;  // mm
constexpr int pictureObject = QTextFormat::UserObject + 1, pictureNumber = QTextFormat::UserProperty + 1;

QString failed(const QString& file) {
    return QCoreApplication::translate("Paper", "%1 cannot be written").arg(file);
}

QString onePicture(const QString& svg, const QString& pdf) {
    QSvgRenderer renderer(svg);
    if (!renderer.isValid()) return QCoreApplication::translate("Paper", "%1 is no picture").arg(svg);
    const QSizeF size = QSizeF(renderer.defaultSize()) * inch / pixelsPerInch;
    QPdfWriter writer(pdf);
    writer.setResolution(dotsPerInch);
    writer.setPageSize(QPageSize(size, QPageSize::Millimeter));
    writer.setPageMargins(QMarginsF());
    QPainter painter;
    if (!painter.begin(&writer)) return failed(pdf);
    renderer.render(&painter, QRectF(0, 0, writer.width(), writer.height()));
    return painter.end() ? QString() : failed(pdf);
}

/// Figures stay vectors: the text holds their places, this draws them.
class Figures : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    explicit Figures(double wide) : wide_(wide) {}
    int add(const QByteArray& svg) {
        pictures_.push_back(std::make_unique<QSvgRenderer>(svg));
        return static_cast<int>(pictures_.size()) - 1;
    }
    QSizeF intrinsicSize(QTextDocument* /*document*/, int /*at*/, const QTextFormat& format) override {
        const QSizeF size = pictureOf(format).defaultSize();
        return size.width() > 0 ? size * (wide_ / size.width()) : QSizeF(1, 1);
    }
    void drawObject(QPainter* painter, const QRectF& rect, QTextDocument* /*document*/, int /*at*/,
                    const QTextFormat& format) override {
        pictureOf(format).render(painter, rect);
    }

private:
    QSvgRenderer& pictureOf(const QTextFormat& format) {
        return *pictures_[static_cast<std::size_t>(format.property(pictureNumber).toInt())];
    }
    double wide_;
    std::vector<std::unique_ptr<QSvgRenderer>> pictures_;
};

/// What rich text of Qt knows of the page's looks.
const QString paperStyle = QStringLiteral(
    "body { font-family: Inter, sans-serif; font-size: 9pt; color: #1b1f24; } h1 { font-size: 19pt; } "
    "h2 { font-size: 15pt; } h3 { font-size: 11.5pt; } .mark, .lead, .note, .sub, footer, .term { color: #565e69; } "
    ".answer { font-size: 11pt; } th { color: #565e69; text-align: left; font-weight: normal; } "
    "td, th { padding: 2px 5px; font-size: 7.5pt; } .tag { color: #805000; } code { font-family: monospace; }");

}  // namespace

namespace {

/// All that follows a change. Qt 6.4 by itself lays out the changed block alone: what stands behind it is drawn at its
/// old place or, beyond the page that it stood on, not at all.
void layOutFrom(QTextDocument& document, int position) {
    document.markContentsDirty(position, document.characterCount() - position);
}

}  // namespace

void keepHeadings(QTextDocument& document, double page) {
    constexpr double rows = 60;  // of a table, in points of the screen
    QAbstractTextDocumentLayout& layout = *document.documentLayout();
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0) continue;
        QTextBlock next = block.next();
        while (next.isValid() && next.blockFormat().headingLevel() > 0) next = next.next();
        if (!next.isValid()) return;
        const double top = layout.blockBoundingRect(block).top();
        const bool inTable = qobject_cast<QTextTable*>(document.frameAt(next.position())) != nullptr;
        const double end = layout.blockBoundingRect(next).bottom() + (inTable ? rows : 0);
        if (std::floor(top / page) == std::floor((end - 1) / page) || end - top > page) continue;
        QTextBlockFormat before;
        before.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(block).mergeBlockFormat(before);
        layOutFrom(document, block.position());
    }
}

namespace {

struct Extent {
    double top = 0, bottom = 0;
};

/// Of a row's cells that are of it alone.
Extent extentOf(const QTextTable& table, int row, const QAbstractTextDocumentLayout& layout) {
    Extent of{std::numeric_limits<double>::max(), 0};
    for (int column = 0; column < table.columns(); ++column) {
        const QTextTableCell cell = table.cellAt(row, column);
        if (cell.rowSpan() > 1) continue;
        of.top = std::min(of.top, layout.blockBoundingRect(cell.firstCursorPosition().block()).top());
        of.bottom = std::max(of.bottom, layout.blockBoundingRect(cell.lastCursorPosition().block()).bottom());
    }
    return of;
}

void keepRowsOf(QTextTable& table, double page) {
    constexpr double gap = 2;  // pixels of the screen below repeated heads
    const QAbstractTextDocumentLayout& layout = *table.document()->documentLayout();
    const int heads = table.format().toTableFormat().headerRowCount();
    double above = gap;
    for (int row = 0; row < heads; ++row) {
        const Extent head = extentOf(table, row, layout);
        above += head.bottom - head.top + gap;
    }
    for (int row = heads; row < table.rows(); ++row) {
        const Extent is = extentOf(table, row, layout);
        const double next = (std::floor(is.top / page) + 1) * page;
        if (is.bottom <= next || is.bottom - is.top > page - above) continue;
        for (int column = 0; column < table.columns(); ++column) {
            QTextTableCell cell = table.cellAt(row, column);
            if (cell.rowSpan() > 1) continue;
            QTextTableCellFormat format = cell.format().toTableCellFormat();
            format.setTopPadding(format.topPadding() + next + above - is.top);
            cell.setFormat(format);
        }
        layOutFrom(*table.document(), table.cellAt(row, 0).firstPosition());
    }
}

}  // namespace

void keepRows(QTextDocument& document, double page) {
    QList<QTextFrame*> frames{document.rootFrame()};
    while (!frames.isEmpty()) {
        QTextFrame* frame = frames.takeFirst();
        if (auto* table = qobject_cast<QTextTable*>(frame)) keepRowsOf(*table, page);
        frames = frame->childFrames() + frames;  // in the order of the text
    }
}

QString writePdf(const QString& html, const QString& pdf) {
    QFile file(html);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QString text = forPaper(QString::fromUtf8(file.readAll()));
    QPdfWriter writer(pdf);
    writer.setResolution(dotsPerInch);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(margin, margin, margin, margin), QPageLayout::Millimeter);
    QPainter painter;
    if (!painter.begin(&writer)) return failed(pdf);
    // Text is set in points of the screen and drawn larger: sizes of fonts are then those of the style.
    const double scale = dotsPerInch / pixelsPerInch;
    const QSizeF page(writer.width() / scale, writer.height() / scale - 20);
    Figures figures(page.width() - 2);
    static const QRegularExpression picture(QStringLiteral("<svg.*?</svg>"),
                                            QRegularExpression::DotMatchesEverythingOption);
    std::vector<QByteArray> svgs;
    for (auto found = picture.globalMatch(text); found.hasNext();) svgs.push_back(found.next().captured().toUtf8());
    text.replace(picture, QStringLiteral("<p>\u2021figure\u2021</p>"));
    QTextDocument document;
    document.setDefaultStyleSheet(paperStyle);
    document.setDocumentMargin(0);
    document.setHtml(text);
    document.documentLayout()->registerHandler(pictureObject, &figures);
    std::size_t at = 0;
    for (QTextCursor place = document.find(QStringLiteral("\u2021figure\u2021")); !place.isNull() && at < svgs.size();
         place = document.find(QStringLiteral("\u2021figure\u2021"), place)) {
        QTextCharFormat format;
        format.setObjectType(pictureObject);
        format.setProperty(pictureNumber, figures.add(svgs[at++]));
        place.insertText(QString(QChar::ObjectReplacementCharacter), format);
    }
    document.setPageSize(page);
    layOutFrom(document, 0);
    keepHeadings(document, page.height());
    keepRows(document, page.height());
    const int pages = document.pageCount();
    painter.scale(scale, scale);
    for (int i = 0; i < pages; ++i) {
        if (i > 0) writer.newPage();
        painter.save();
        painter.translate(0, -i * page.height());
        document.drawContents(&painter, QRectF(0, i * page.height(), page.width(), page.height()));
        painter.restore();
        QFont small(QStringLiteral("Inter"));
        small.setPixelSize(9);
        painter.setFont(small);
        painter.setOpacity(0.65);
        painter.drawText(QRectF(0, page.height() + 6, page.width(), 14), Qt::AlignRight,
                         QStringLiteral("%1 / %2").arg(i + 1).arg(pages));
        painter.setOpacity(1);
    }
    return painter.end() ? QString() : failed(pdf);
}

QString writePaper(const QString& folder) {
    const QDir dir(folder);
    if (!dir.exists()) return QCoreApplication::translate("Paper", "there is no folder %1").arg(folder);
    for (const QString& name : dir.entryList({QStringLiteral("*.svg")}, QDir::Files, QDir::Name)) {
        const QString svg = dir.filePath(name);
        if (const QString problem = onePicture(svg, svg.chopped(3) + QStringLiteral("pdf")); !problem.isEmpty())
            return problem;
    }
    const QString html = dir.filePath(QStringLiteral("report.html"));
    return QFile::exists(html) ? writePdf(html, dir.filePath(QStringLiteral("report.pdf"))) : QString();
}

}  // namespace orrery::app

#include "paper.moc"
