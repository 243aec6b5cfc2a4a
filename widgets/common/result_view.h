#pragma once

#include "widgets/common/snapshot.h"

#include <QWidget>

namespace orrery::ui {

/// What a view says while it has nothing to show, and the label of the button that fills it (none if empty).
struct EmptyState {
    QString title, sentence, action;
};

/// Base of every view of results: takes snapshots, shares the selection, exports its picture and its data, and says
/// what it will show while it is empty.
class ResultView : public QWidget {
    Q_OBJECT
public:
    ResultView(QString id, QString title, Selection* selection, QWidget* parent = nullptr);

    const QString& id() const { return id_; }  ///< `roofline`: object name of the dock
    const QString& title() const { return title_; }
    void setSnapshot(SnapshotPtr snapshot);
    const SnapshotPtr& snapshot() const { return snapshot_; }

    /// Writes PNG, SVG or PDF by the file's ending, at the size chosen for pictures (picture_file.h); CSV or a table of
    /// LaTeX if the view has data. Returns an error text, empty if done.
    QString exportTo(const QString& file);
    virtual QString csv() const { return {}; }
    void copyPicture();

    bool isEmpty() const { return empty_; }
    void setEmptyState(const EmptyState& state);
    /// What the button of every empty state of this view says from now on: who knows what is missing knows what fills
    /// it.
    void setEmptyAction(const QString& action);

signals:
    void emptyActionTriggered();  ///< the button of the empty state was pressed

protected:
    /// Covers the view with the empty state, or uncovers it. Views begin empty.
    void setEmpty(bool empty);

    virtual void snapshotChanged(const SnapshotPtr& before) = 0;        ///< also called with a null snapshot
    virtual void paintPicture(QPainter& painter, const QRect& target);  ///< default: renders the widget
    Selection* selection() const { return selection_; }

private:
    QString id_, title_;
    Selection* selection_;
    SnapshotPtr snapshot_;
    QWidget* emptyPanel_;
    EmptyState emptyState_;
    QString emptyAction_;
    bool empty_ = true;
};

}  // namespace orrery::ui
