#include "app/window/hardware_page.h"

#include "app/window/hardware_picture.h"
#include "widgets/panels/component_tree.h"

#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

HardwarePage::HardwarePage(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("hardwarePage"));
    setAccessibleName(tr("Hardware"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setObjectName(QStringLiteral("hardwareSplit"));
    split->setChildrenCollapsible(false);
    tree_ = new ui::ComponentTreeView(split);
    picture_ = new HardwarePicture(split);
    split->addWidget(tree_);
    split->addWidget(picture_);
    split->setStretchFactor(0, 2);
    split->setStretchFactor(1, 3);
    column->addWidget(split);
    connect(tree_, &ui::ComponentTreeView::componentSelected, this, [this](const ComponentPath& path) {
        picture_->setCurrent(path);
        emit componentSelected(path);
    });
    connect(picture_, &HardwarePicture::componentSelected, this, [this](const ComponentPath& path) {
        tree_->setCurrent(path);
        emit componentSelected(path);
    });
}

void HardwarePage::setHardware(HardwarePtr hardware) {
    tree_->setHardware(hardware);
    picture_->setHardware(std::move(hardware));
}

void HardwarePage::setCurrent(const ComponentPath& path) {
    tree_->setCurrent(path);
    picture_->setCurrent(path);
}

ComponentPath HardwarePage::current() const {
    return picture_->current();
}

}  // namespace orrery::app
