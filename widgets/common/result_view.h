#pragma once

#include "widgets/common/snapshot.h"

#include <QWidget>

namespace orrery::ui {

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

    /// Writes PNG, SVG or PDF by the file's ending; CSV if the view has data. Returns an error text, empty if done.
    QString exportTo(const QString& file);
    virtual QString csv() const { return {}; }
    void copyPicture();

protected:
    virtual void snapshotChanged(const SnapshotPtr& before) = 0;        ///< also called with a null snapshot
    virtual void paintPicture(QPainter& painter, const QRect& target);  ///< default: renders the widget
    Selection* selection() const { return selection_; }

private:
    QString id_, title_;
    Selection* selection_;
    SnapshotPtr snapshot_;
};

}  // namespace orrery::ui
