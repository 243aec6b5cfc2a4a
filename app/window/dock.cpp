#include "app/window/dock.h"

#include "widgets/common/label.h"
#include "widgets/common/result_view.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QMainWindow>
#include <QMenu>
#include <QToolButton>

namespace orrery::app {

Dock::Dock(const QString& id, const QString& title, const QString& meaning, Make make, QWidget* parent)
    : QDockWidget(title, parent), make_(std::move(make)), title_(title) {
    setObjectName(id);
    setAccessibleName(title);
    setToolTip(meaning);

    auto* bar = new QWidget(this);
    bar->setObjectName(id + QStringLiteral("Header"));
    auto* row = new QHBoxLayout(bar);
    const int unit = ui::Theme::instance().unit();
    row->setContentsMargins(unit, unit / 4, unit / 2, unit / 4);
    row->setSpacing(0);
    // One line that gives way: what a panel is for may be longer than the panel is wide.
    label_ = new ui::Label(title, ui::FontRole::Small, ui::Tone::Normal, bar);
    label_->setElided(true);
    label_->setObjectName(id + QStringLiteral("Title"));
    label_->setToolTip(meaning);
    meaning_ = meaning;
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &Dock::refreshHeader);
    row->addWidget(label_, 1);
    menuButton_ = new QToolButton(bar);
    menuButton_->setObjectName(id + QStringLiteral("Menu"));
    menuButton_->setAccessibleName(tr("%1: menu").arg(title));
    menuButton_->setToolTip(tr("Export, copy, float or close %1").arg(title));
    menuButton_->setAutoRaise(true);
    menuButton_->setFocusPolicy(Qt::TabFocus);
    menuButton_->setText(QStringLiteral("⋯"));
    menuButton_->setPopupMode(QToolButton::InstantPopup);
    menuButton_->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
    menu_ = new QMenu(menuButton_);
    menuButton_->setMenu(menu_);
    row->addWidget(menuButton_);
    setTitleBarWidget(bar);
    connect(menu_, &QMenu::aboutToShow, this, &Dock::fillMenu);
    connect(this, &QDockWidget::visibilityChanged, this, [this](bool visible) {
        if (visible && !held_) content();
        refreshHeader();
    });
    connect(this, &QDockWidget::dockLocationChanged, this, &Dock::refreshHeader);
    refreshHeader();
}

QWidget* Dock::content() {
    if (!made_) {
        made_ = true;
        QWidget* content = make_(this);
        setWidget(content);
        emit contentMade(content);
    }
    return widget();
}

void Dock::hold(bool held) {
    held_ = held;
    if (!held && !visibleRegion().isEmpty()) content();
}

ui::ResultView* Dock::view() {
    return qobject_cast<ui::ResultView*>(content());
}

void Dock::setTitleNote(const QString& note) {
    note_ = note;
    refreshHeader();
    setWindowTitle(note.isEmpty() ? title_ : QStringLiteral("%1 (%2)").arg(title_, note));
}

void Dock::refreshHeader() {
    // A dock among tabs has its name on the tab; the header then says what it is for.
    const auto* window = qobject_cast<QMainWindow*>(parentWidget());
    const bool tabbed = window && !window->tabifiedDockWidgets(this).isEmpty();
    label_->setTone(tabbed ? ui::Tone::Muted : ui::Tone::Normal);
    label_->setBold(!tabbed);
    const QString text = tabbed ? meaning_ : title_;
    label_->setText(note_.isEmpty() ? text : QStringLiteral("%1  ·  %2").arg(text, note_));
}

void Dock::fillMenu() {
    menu_->clear();
    if (ui::ResultView* shown = view()) {
        menu_->addAction(tr("Export…"), this, [this, shown] { emit exportRequested(shown); });
        menu_->addAction(tr("Copy picture"), this, [this, shown] { emit copyRequested(shown); });
        menu_->addSeparator();
    }
    menu_->addAction(isFloating() ? tr("Dock again") : tr("Float"), this, [this] { setFloating(!isFloating()); });
    menu_->addAction(tr("Close"), this, &QDockWidget::close);
}

}  // namespace orrery::app
