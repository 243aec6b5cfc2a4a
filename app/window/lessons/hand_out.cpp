#include "app/window/lessons/hand_out.h"

#include "widgets/common/text.h"

#include <QFileInfo>
#include <QFont>
#include <QPageSize>
#include <QPdfWriter>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>

namespace orrery::app {

namespace {

// Of the screen, 96 to the inch, as rich text counts.
constexpr QSizeF sheet(794, 1123);  // A4
constexpr double margin = 76;       // 20 mm

bool isLine(const QTextBlock& block) {
    return block.text().contains(QLatin1String("____"));
}

/// `room` above each line to write on: a hand needs more than print does.
void makeRoom(QTextDocument& page, double room) {
    constexpr double near = 6, betweenLines = 125;
    for (QTextBlock block = page.begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        const bool heading = format.headingLevel() > 0;
        format.setTopMargin(heading || isLine(block) ? room : near);
        format.setBottomMargin(near);
        format.setLineHeight(betweenLines, QTextBlockFormat::ProportionalHeight);
        QTextCursor(block).setBlockFormat(format);
    }
}

/// The sheets that it needs anyway are filled with room to write.
void fillSheets(QTextDocument& page) {
    constexpr double least = 18, most = 60, step = 3;
    page.setPageSize(sheet);
    page.setDocumentMargin(margin);
    makeRoom(page, least);
    const int sheets = page.pageCount();
    double room = least;
    while (room < most) {
        makeRoom(page, room + step);
        if (page.pageCount() > sheets) break;
        room += step;
    }
    makeRoom(page, room);
}

}  // namespace

Expected<void> writeHandOut(const Lesson& lesson, const LessonFacts& start, const QString& file) {
    const std::string markdown = handOut(lesson, start);
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != QLatin1String("pdf") && ending != QLatin1String("html"))
        return saveFileAtomically(file.toStdString(), markdown);
    QTextDocument page;
    page.setMetaInformation(QTextDocument::DocumentTitle, ui::qs(lesson.head.title));
    QFont font = page.defaultFont();
    constexpr int points = 11;
    font.setPointSize(points);
    page.setDefaultFont(font);
    page.setMarkdown(ui::qs(markdown));
    fillSheets(page);
    if (ending == QLatin1String("html")) return saveFileAtomically(file.toStdString(), page.toHtml().toStdString());
    QPdfWriter paper(file);
    paper.setTitle(ui::qs(lesson.head.title));
    paper.setPageSize(QPageSize(QPageSize::A4));
    paper.setPageMargins(QMarginsF());  // the text has its own
    page.print(&paper);
    if (QFileInfo(file).size() > 0) return {};
    return fail("lesson.hand-out", "the hand-out could not be written", "a file that may be written",
                "choose another folder", {file.toStdString()});
}

}  // namespace orrery::app
