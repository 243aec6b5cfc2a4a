#include "app/window/help/handbook_window.h"

#include "app/window/help/handbook_places.h"
#include "widgets/common/theme.h"
#include "widgets/handbook/handbook_view.h"

#include <QScreen>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace orrery::app {

HandbookWindow::HandbookWindow(QWidget* parent) : QDialog(parent) {
    setObjectName(QStringLiteral("handbook"));
    setWindowTitle(tr("Handbook"));
    setModal(false);
    setSizeGripEnabled(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    view_ = new ui::HandbookView(ui::Handbook::of(handbookFolder()), this);
    column->addWidget(view_);
    const int unit = ui::Theme::instance().unit();
    constexpr QSize frame(40, 80);
    resize(QSize(120 * unit, 96 * unit).boundedTo(screen()->availableSize() - frame));
}

void HandbookWindow::open(const QString& place) {
    if (!place.isEmpty()) (void)view_->open(place);
    show();
    raise();
    activateWindow();
    view_->text()->setFocus();
}

}  // namespace orrery::app
