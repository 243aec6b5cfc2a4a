#pragma once

#include "methods/method.h"

#include <QWidget>

namespace orrery::ui {
class ComponentTreeView;
}

namespace orrery::app {

class HardwarePicture;

/// The hardware document: the component tree beside a picture of it; one selection for both.
class HardwarePage : public QWidget {
    Q_OBJECT
public:
    explicit HardwarePage(QWidget* parent = nullptr);
    void setHardware(HardwarePtr hardware);
    void setCurrent(const ComponentPath& path);  ///< emits nothing
    ComponentPath current() const;
    ui::ComponentTreeView* tree() const { return tree_; }
    HardwarePicture* picture() const { return picture_; }

signals:
    void componentSelected(const orrery::ComponentPath& path);

private:
    ui::ComponentTreeView* tree_;
    HardwarePicture* picture_;
};

}  // namespace orrery::app
