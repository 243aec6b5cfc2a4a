#include "widgets/welcome/command_palette.h"

#include "widgets/common/theme.h"
#include "widgets/welcome/palette_model.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QPointer>
#include <QVBoxLayout>

namespace orrery::ui {

CommandPalette::CommandPalette(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Command palette"));
    setFocusPolicy(Qt::NoFocus);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    line_ = new QLineEdit(this);
    line_->setObjectName(QStringLiteral("commandPalette.line"));
    line_->setAccessibleName(tr("Search commands, pages, methods, parameters, devices and the handbook"));
    line_->setPlaceholderText(tr("Search commands, pages, methods, parameters, devices, the handbook"));
    line_->setToolTip(tr("Type a few letters; ↑ ↓ choose, Enter runs, Esc closes"));
    list_ = new QListView(this);
    list_->setObjectName(QStringLiteral("commandPalette.list"));
    list_->setAccessibleName(tr("Matches"));
    list_->setToolTip(tr("Enter or a click runs"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setStyleSheet(QStringLiteral("QListView { background: transparent; }"));
    list_->setUniformItemSizes(true);
    list_->setMouseTracking(true);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    model_ = new PaletteModel(this);
    list_->setModel(model_);
    list_->setItemDelegate(new PaletteDelegate(list_));
    column->addWidget(line_);
    column->addWidget(list_, 1);
    connect(line_, &QLineEdit::textChanged, this, [this](const QString& text) {
        model_->setPattern(text);
        if (model_->rowCount() > 0) list_->setCurrentIndex(model_->index(0));
        place();
        update();
    });
    connect(list_, &QListView::clicked, this, &CommandPalette::run);
    line_->installEventFilter(this);
    parent->installEventFilter(this);
    hide();
}

void CommandPalette::setActions(const QList<QAction*>& actions) {
    actions_ = actions;
}

void CommandPalette::setProvider(Provider provider) {
    provider_ = std::move(provider);
}

void CommandPalette::open() {
    std::vector<PaletteModel::Item> items;
    for (QAction* action : actions_) {
        QString title = action->text();
        title.remove(QLatin1Char('&'));
        if (title.isEmpty() || !action->isEnabled() || !action->isVisible() || action->menu() || action->isSeparator())
            continue;
        PaletteModel::Item item;
        item.entry.title = title;
        item.entry.icon = action->icon();
        const QString group = action->property("group").toString();
        item.entry.detail = group.isEmpty() ? action->statusTip() : group + QStringLiteral(" · ") + action->statusTip();
        item.shortcut = action->shortcut().toString(QKeySequence::NativeText);
        item.entry.run = [target = QPointer(action)] {
            if (target) target->trigger();
        };
        items.push_back(std::move(item));
    }
    if (provider_)
        for (PaletteEntry& entry : provider_()) items.push_back({std::move(entry), {}, {}, 0});
    model_->setItems(std::move(items));
    before_ = window()->focusWidget();
    line_->clear();
    model_->setPattern({});
    if (model_->rowCount() > 0) list_->setCurrentIndex(model_->index(0));
    place();
    show();
    raise();
    line_->setFocus(Qt::PopupFocusReason);
}

void CommandPalette::place() {
    const QWidget* above = parentWidget();
    const int wide = std::min(640, above->width() - 32);
    const int rows = std::clamp(model_->rowCount(), 1, 10);
    const int high =
        std::min(above->height() - 32, 12 + line_->sizeHint().height() + 8 + rows * PaletteDelegate::height + 16);
    setGeometry((above->width() - wide) / 2, std::min(72, std::max(16, above->height() / 10)), wide, high);
}

void CommandPalette::run(const QModelIndex& index) {
    if (!index.isValid()) return;
    // The palette is gone before the command runs, which may itself open something or ask for the focus.
    const std::function<void()> command = model_->at(index.row()).entry.run;
    dismiss();
    if (command) command();
}

void CommandPalette::dismiss() {
    if (isHidden()) return;
    hide();
    if (before_) before_->setFocus(Qt::PopupFocusReason);
    before_ = nullptr;
    emit closed();
}

void CommandPalette::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return dismiss();
    QWidget::keyPressEvent(event);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parent() && event->type() == QEvent::Resize && isVisible()) place();
    if (watched == line_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int row = list_->currentIndex().row();
        const int rows = model_->rowCount();
        const auto go = [&](int to) {
            if (rows > 0) list_->setCurrentIndex(model_->index((to % rows + rows) % rows));
        };
        switch (key->key()) {
            case Qt::Key_Down:
                return go(row + 1), true;
            case Qt::Key_Up:
                return go(row - 1), true;
            case Qt::Key_PageDown:
                return go(std::min(row + 8, rows - 1)), true;
            case Qt::Key_PageUp:
                return go(std::max(row - 8, 0)), true;
            case Qt::Key_Return:
            case Qt::Key_Enter:
                return run(list_->currentIndex()), true;
            case Qt::Key_Escape:
                return dismiss(), true;
            default:
                break;
        }
    }
    if (watched == line_ && event->type() == QEvent::FocusOut && isVisible() &&
        static_cast<QFocusEvent*>(event)->reason() != Qt::ActiveWindowFocusReason &&
        static_cast<QFocusEvent*>(event)->reason() != Qt::PopupFocusReason) {
        before_ = nullptr;  // somebody else has the focus now, and keeps it
        dismiss();
    }
    return QWidget::eventFilter(watched, event);
}

void CommandPalette::paintEvent(QPaintEvent*) {
    const Palette& colours = Theme::instance().colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(colours.line);
    painter.setBrush(colours.raised);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
    if (model_->rowCount() > 0) return;
    painter.setPen(colours.mutedText);
    painter.setFont(Theme::instance().font(FontRole::Body));
    painter.drawText(list_->geometry().adjusted(8, 0, -8, 0), Qt::AlignVCenter,
                     tr("Nothing is called “%1”").arg(line_->text()));
}

}  // namespace orrery::ui
