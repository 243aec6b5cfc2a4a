#pragma once

#include "hardware/component.h"

#include <QObject>

#include <vector>

namespace orrery::ui {

/// The selected components of the design shown: one for canvas, tree and inspector. The last is the current one.
class ComponentSelection : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    const std::vector<ComponentPath>& paths() const { return paths_; }
    bool contains(const ComponentPath& path) const;
    ComponentPath current() const { return paths_.empty() ? ComponentPath{} : paths_.back(); }
    void select(std::vector<ComponentPath> paths);  ///< double entries are dropped
    void toggle(const ComponentPath& path);
    void clear() { select({}); }

signals:
    void changed();

private:
    std::vector<ComponentPath> paths_;
};

}  // namespace orrery::ui
