#include "app/window/lessons/hand_out.h"

#include "widgets/common/text.h"

#include <QFileInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QTextDocument>

namespace orrery::app {

Expected<void> writeHandOut(const Lesson& lesson, const LessonState& state, const QString& file) {
    const std::string markdown = handOut(lesson, state);
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending != QLatin1String("pdf") && ending != QLatin1String("html"))
        return saveFileAtomically(file.toStdString(), markdown);
    QTextDocument page;
    page.setMetaInformation(QTextDocument::DocumentTitle, ui::qs(lesson.head.title));
    page.setMarkdown(ui::qs(markdown));
    if (ending == QLatin1String("html")) return saveFileAtomically(file.toStdString(), page.toHtml().toStdString());
    QPdfWriter paper(file);
    paper.setTitle(ui::qs(lesson.head.title));
    paper.setPageSize(QPageSize(QPageSize::A4));
    QFont font = page.defaultFont();
    constexpr int points = 11;
    font.setPointSize(points);
    page.setDefaultFont(font);
    page.print(&paper);
    if (QFileInfo(file).size() > 0) return {};
    return fail("lesson.hand-out", "the hand-out could not be written", "a file that may be written",
                "choose another folder", {file.toStdString()});
}

}  // namespace orrery::app
