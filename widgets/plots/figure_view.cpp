#include "widgets/plots/figure_view.h"

#include "base/text/csv_cell.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/table_file.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

namespace orrery::ui {

FigureView::FigureView(const QString& id, const QString& name, const QString& tip, const QString& empty,
                       QWidget* parent)
    : QWidget(parent), emptyText_(empty) {
    setObjectName(id);
    setAccessibleName(name);
    setToolTip(tip);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void FigureView::setEmptyText(const QString& text) {
    emptyText_ = text;
    update();
}

QString FigureView::exportTo(const QString& file) const {
    if (isTableFile(file)) return writeTable(file, csv().toStdString());
    return writePicture(file, size(), accessibleName(), [this](QPainter& painter, const QRect&) {
        isEmpty() ? paintEmptyPlot(painter, rect(), emptyText_) : paintFigure(painter);
    });
}

void FigureView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().surface);
    isEmpty() ? paintEmptyPlot(painter, rect(), emptyText_) : paintFigure(painter);
}

bool FigureView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip && !isEmpty()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const QString said = textAt(help->pos()); !said.isEmpty()) {
            QToolTip::showText(help->globalPos(), said, this);
            return true;
        }
    }
    return QWidget::event(event);
}

void addCell(QByteArray& csv, const QString& text, bool last) {
    csv += QByteArray::fromStdString(csvCell(text.toStdString()));
    csv += last ? '\n' : ',';
}

}  // namespace orrery::ui
