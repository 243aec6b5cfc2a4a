#include "app/window/shown_export.h"

#include "app/window/exports.h"
#include "app/window/studio.h"
#include "base/text/csv_cell.h"
#include "base/text/latex_table.h"
#include "widgets/common/picture_file.h"
#include "widgets/evidence/cells_model.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QPainter>

namespace orrery::app {

namespace {

QString shownWords(const char* text) {
    return QCoreApplication::translate("ShownExport", text);
}

QString pictureOf(const QString& file, const ShownExport& what) {
    QWidget& view = *what.view;
    // One that was never shown has no size yet.
    constexpr QSize usual(1200, 480);
    if (!view.isVisible() && view.width() < usual.width() / 2) view.resize(usual);
    return ui::atPictureSize(view, [&] {
        return ui::writePicture(file, view.size(), view.accessibleName(), [&view](QPainter& painter, const QRect&) {
            view.render(&painter, {}, {}, QWidget::DrawWindowBackground | QWidget::DrawChildren);
        });
    });
}

}  // namespace

QString writeShown(const QString& file, const ShownExport& what) {
    const QString ending = QFileInfo(file).suffix().toLower();
    const auto text = [&](const std::string& words) { return ui::writeText(file, QByteArray::fromStdString(words)); };
    const bool table = ending == QLatin1String("csv") || ending == QLatin1String("tex");
    if (table && what.csv) return text(ending == QLatin1String("csv") ? what.csv() : latexTable(what.csv()));
    if (ending == QLatin1String("json") && what.trace) return text(what.trace());
    if (table || ending == QLatin1String("json"))
        return shownWords("there is nothing to write as .%1 here").arg(ending);
    return pictureOf(file, what);
}

void exportShown(Studio& studio, const ShownExport& what) {
    QStringList types{shownWords("SVG of the visible view (*.svg)"), shownWords("PDF of the visible view (*.pdf)"),
                      shownWords("PNG of the visible view (*.png)")};
    if (what.csv) types << shownWords("CSV of the figures (*.csv)") << shownWords("TEX table of the figures (*.tex)");
    if (what.trace) types << shownWords("Chrome and Perfetto trace of the timeline (*.json)");
    exportWith(studio, *what.view, shownWords("Export"), what.name + QStringLiteral(".svg"),
               types.join(QLatin1String(";;")), [&](const QString& file) { return writeShown(file, what); });
}

std::string csvOf(const ui::CellsTable& table) {
    const QAbstractItemModel& model = *table.model();
    std::string text;
    const auto line = [&](auto&& cell) {
        for (int column = 0; column < model.columnCount(); ++column) {
            if (column > 0) text += ',';
            text += csvCell(cell(column).toString().toStdString());
        }
        text += '\n';
    };
    line([&](int column) { return model.headerData(column, Qt::Horizontal); });
    for (int row = 0; row < model.rowCount(); ++row) line([&](int column) { return model.index(row, column).data(); });
    return text;
}

}  // namespace orrery::app
