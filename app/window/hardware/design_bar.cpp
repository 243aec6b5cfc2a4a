#include "app/window/hardware/design_bar.h"

#include "app/window/actions.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QTabBar>
#include <QToolButton>

namespace orrery::app {

DesignBar::DesignBar(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
    setObjectName(QStringLiteral("designBar"));
    auto* row = new QHBoxLayout(this);
    const int unit = ui::Theme::instance().unit();
    row->setContentsMargins(0, 0, unit, 0);
    row->setSpacing(unit / 2);
    tabs_ = new QTabBar(this);
    tabs_->setObjectName(QStringLiteral("designTabs"));
    tabs_->setAccessibleName(tr("Designs of the project"));
    tabs_->setToolTip(tr("The project's designs: click shows one, double-click renames it"));
    tabs_->setDocumentMode(true);
    tabs_->setExpanding(false);
    tabs_->setUsesScrollButtons(true);
    tabs_->setElideMode(Qt::ElideRight);
    tabs_->setContextMenuPolicy(Qt::CustomContextMenu);
    const auto button = [this](const char* id, const QString& text, const QString& tip) {
        auto* made = new QToolButton(this);
        made->setObjectName(QLatin1String(id));
        made->setText(text);
        made->setAccessibleName(tip);
        made->setToolTip(tip);
        made->setAutoRaise(true);
        made->setPopupMode(QToolButton::InstantPopup);
        return made;
    };
    add_ = button("designAdd", tr("+"), tr("New design: empty, or derived from this one"));
    compare_ =
        button("designCompare", tr("Compare with"), tr("Shows another design at the right, with the differences"));
    compareMenu_ = new QMenu(compare_);
    compareMenu_->setObjectName(QStringLiteral("designCompareMenu"));
    compare_->setMenu(compareMenu_);
    row->addWidget(tabs_);
    row->addWidget(add_);
    row->addStretch(1);
    row->addWidget(compare_);
    connect(tabs_, &QTabBar::currentChanged, this, [this](int index) {
        if (!quiet_ && index >= 0) emit designChosen(index);
    });
    connect(tabs_, &QTabBar::tabBarDoubleClicked, this, [this](int index) {
        if (index >= 0) emit renameRequested(index);
    });
    connect(compareMenu_, &QMenu::aboutToShow, this, &DesignBar::fillCompare);
    connect(&document_, &Document::projectChanged, this, &DesignBar::refresh);
    refresh();
}

void DesignBar::setActions(Actions& actions) {
    actions_ = &actions;
    auto* menu = new QMenu(add_);
    menu->setObjectName(QStringLiteral("designAddMenu"));
    menu->setToolTipsVisible(true);
    for (const char* id : {"designNew", "designDerive", "designDuplicate"})
        menu->addAction(actions.find(QLatin1String(id)));
    add_->setMenu(menu);
    connect(tabs_, &QTabBar::customContextMenuRequested, this, [this](const QPoint& at) {
        if (const int index = tabs_->tabAt(at); index >= 0) tabs_->setCurrentIndex(index);
        QMenu popup(this);
        for (const char* id : {"designRename", "designDuplicate", "designDerive", "designDelete"})
            popup.addAction(actions_->find(QLatin1String(id)));
        popup.exec(tabs_->mapToGlobal(at));
    });
}

void DesignBar::setCompared(int index) {
    compared_ = index;
    const auto& designs = document_.state()->hardware;
    const bool some = index >= 0 && index < static_cast<int>(designs.size());
    compare_->setText(
        some ? tr("Compared with %1").arg(QString::fromStdString(designs[static_cast<std::size_t>(index)]->name))
             : tr("Compare with"));
}

void DesignBar::refresh() {
    const ProjectState& state = *document_.state();
    QStringList names;
    for (const HardwarePtr& design : state.hardware) names << QString::fromStdString(design->name);
    quiet_ = true;
    if (names != shown_) {
        while (tabs_->count() > names.size()) tabs_->removeTab(tabs_->count() - 1);
        for (int at = 0; at < names.size(); ++at) {
            // A tab shows & as a mnemonic.
            QString text = names[at];
            text.replace(QLatin1Char('&'), QStringLiteral("&&"));
            at < tabs_->count() ? tabs_->setTabText(at, text) : void(tabs_->addTab(text));
            tabs_->setTabToolTip(at, names[at]);
        }
        shown_ = names;
    }
    if (state.currentHardware() >= 0) tabs_->setCurrentIndex(state.currentHardware());
    quiet_ = false;
    compare_->setEnabled(names.size() > 1);
    setVisible(!names.isEmpty());
}

void DesignBar::listDesigns(QMenu* menu, int without, const std::function<void(int)>& chosen) const {
    const auto& designs = document_.state()->hardware;
    for (int at = 0; at < static_cast<int>(designs.size()); ++at) {
        if (at == without) continue;
        QAction* action = menu->addAction(QString::fromStdString(designs[static_cast<std::size_t>(at)]->name), menu,
                                          [chosen, at] { chosen(at); });
        action->setCheckable(true);
        action->setChecked(at == compared_);
    }
}

void DesignBar::fillCompare() {
    compareMenu_->clear();
    listDesigns(compareMenu_, document_.hardwareIndex(), [this](int index) { emit compareChosen(index); });
    compareMenu_->addSeparator();
    QAction* none = compareMenu_->addAction(tr("One design only"), this, [this] { emit compareChosen(-1); });
    none->setEnabled(compared_ >= 0);
}

}  // namespace orrery::app
