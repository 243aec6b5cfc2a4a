#pragma once

#include "hardware/files/catalogue.h"
#include "methods/method.h"

#include <QWidget>

#include <functional>
#include <span>
#include <vector>

class QLineEdit;
class QListView;
class QTabBar;
class QTimer;

namespace orrery::ui {

class CardFilter;
class LibraryModel;
class MethodHoverCard;

/// Everything that ships: devices, models, methods. Typing searches; Enter, double click or a drag (MIME
/// `application/x-orrery-hardware` or `-workload` with the id) chooses; the box before a method puts it in the set.
class LibraryPanel : public QWidget {
    Q_OBJECT
public:
    enum Section { Devices, Models, Methods };  ///< as LibraryItem::Kind

    explicit LibraryPanel(QWidget* parent = nullptr);
    void showSection(Section section);  ///< all of it: the search is cleared
    /// Their numbers are read from the files one by one while the panel is shown; until then rows say the description.
    void setHardware(const std::vector<CatalogueEntry>& entries);
    void setWorkloads(const std::vector<WorkloadInfo>& workloads);
    void setMethods(std::span<const Method> methods);
    /// Asked each time a method's card shows: the card then says what an answer to it is expected to take. Null: none.
    void setQuestion(std::function<const Scenario*()> question) { question_ = std::move(question); }
    void setMethodSet(const QStringList& ids);  ///< which are ticked; emits nothing
    QListView* list() const { return list_; }

signals:
    void hardwareChosen(const QString& id);
    void hardwareDeriveRequested(const QString& id);  ///< a copy of the device to change
    void hardwareInsertRequested(const QString& id);  ///< into the selected component
    void workloadChosen(const QString& id);
    void methodToggled(const QString& id, bool on);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void choose(const QModelIndex& index);
    void showMenu(const QModelIndex& index, const QPoint& global);
    void readNext();

    QTabBar* tabs_;
    QLineEdit* search_;
    QListView* list_;
    LibraryModel* model_;
    CardFilter* filter_;
    MethodHoverCard* card_;
    std::function<const Scenario*()> question_;
    std::vector<CatalogueEntry> unread_;  ///< devices whose numbers are still to be read, last first
    QTimer* reader_;
};

}  // namespace orrery::ui
