#pragma once

// Chips that say which rows count, each with how many it brings: one group per property of the rows. Groups with many
// words stand behind one button with a menu.

#include <QString>
#include <QWidget>

#include <map>
#include <utility>
#include <vector>

class QToolButton;

namespace orrery::ui {

class FlowLayout;

struct RowChip {
    QString word;     ///< as it is chosen by: `GPU`
    qint64 rows = 0;  ///< that it brings
    bool on = true;
};
struct RowChipGroup {
    QString id, title;  ///< `platform`, `Platform`
    bool menu = false;  ///< behind one button
    std::vector<RowChip> chips;
};

class RowChips : public QWidget {
    Q_OBJECT
public:
    explicit RowChips(QWidget* parent = nullptr);
    /// Chips that stay keep their place, so that one may be clicked again while counts change.
    void setGroups(const std::vector<RowChipGroup>& groups);
    /// The button of a word, null if there is none; those of menus have none.
    QToolButton* chip(const QString& group, const QString& word) const;

signals:
    void toggled(const QString& group, const QString& word, bool on);

private:
    void build(const std::vector<RowChipGroup>& groups);

    FlowLayout* row_;
    std::map<std::pair<QString, QString>, QToolButton*> chips_;
    std::map<QString, QToolButton*> menus_;
};

}  // namespace orrery::ui
