#pragma once

#include "hardware/component.h"

#include <QWidget>

class QLineEdit;
class QListView;

namespace orrery::ui {

class CardFilter;
class ComponentPaletteModel;

/// What a design is drawn from: every kind of component, ready topologies, ready parts. Typing filters; a click or
/// Enter asks to place one; a drag carries it as YAML (`application/x-orrery-component`).
class ComponentPalette : public QWidget {
    Q_OBJECT
public:
    explicit ComponentPalette(QWidget* parent = nullptr);
    QListView* list() const { return list_; }
    QLineEdit* line() const { return search_; }
    ComponentPaletteModel* model() const { return model_; }
    /// The item's row as filtered, for tests and tours; an invalid index if it is not shown.
    QModelIndex indexOf(const QString& id) const;

signals:
    /// The component's name is the usual one of its kind: who places it finds a free one.
    void placeRequested(const orrery::Component& component);

private:
    void choose(const QModelIndex& index);

    QLineEdit* search_;
    QListView* list_;
    QWidget* empty_;
    ComponentPaletteModel* model_;
    CardFilter* filter_;
};

}  // namespace orrery::ui
