#pragma once

#include <QTreeWidget>

namespace orrery::app {

class Document;

/// What the project holds: designs, workloads, pairs that a run covers. A double click or Enter shows one.
class ProjectTree : public QTreeWidget {
    Q_OBJECT
public:
    explicit ProjectTree(Document& document, QWidget* parent = nullptr);

signals:
    void hardwareActivated();
    void workloadActivated();
    void refused(const QString& message);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    enum Kind { Group, HardwareItem, WorkloadItem, ScenarioItem };
    void refresh();
    void activate(QTreeWidgetItem* item);
    void remove(QTreeWidgetItem* item);
    void showMenu(const QPoint& at);

    Document& document_;
};

}  // namespace orrery::app
