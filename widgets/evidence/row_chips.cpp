#include "widgets/evidence/row_chips.h"

#include "widgets/common/flow_layout.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>

namespace orrery::ui {

namespace {

QString textOf(const RowChip& chip) {
    return QStringLiteral("%1  %2").arg(chip.word, countText(static_cast<double>(chip.rows)));
}

}  // namespace

RowChips::RowChips(QWidget* parent) : QWidget(parent), row_(new FlowLayout(2, this)) {
    setObjectName(QStringLiteral("evidence.chips"));
    setAccessibleName(tr("Which rows count"));
    setToolTip(tr("The rows that count, and the number of rows of each choice"));
}

QToolButton* RowChips::chip(const QString& group, const QString& word) const {
    const auto found = chips_.find({group, word});
    return found == chips_.end() ? nullptr : found->second;
}

void RowChips::setGroups(const std::vector<RowChipGroup>& groups) {
    std::size_t chips = 0, menus = 0;
    bool same = true;
    for (const RowChipGroup& group : groups) {
        if (group.chips.empty()) continue;  // it has no button
        if (group.menu) {
            ++menus;
            same = same && menus_.contains(group.id);
            continue;
        }
        chips += group.chips.size();
        for (const RowChip& each : group.chips) same = same && chip(group.id, each.word);
    }
    if (!same || chips != chips_.size() || menus != menus_.size()) build(groups);
    for (const RowChipGroup& group : groups) {
        if (group.chips.empty()) continue;
        if (group.menu) {
            QToolButton* button = menus_.at(group.id);
            const auto counted = std::ranges::count_if(group.chips, [](const RowChip& each) { return each.on; });
            button->setText(static_cast<std::size_t>(counted) == group.chips.size()
                                ? tr("%1: all %2").arg(group.title).arg(counted)
                                : tr("%1: %2 of %3").arg(group.title).arg(counted).arg(group.chips.size()));
            // A menu that is open is the one that is being clicked in: its actions stay, their counts change.
            QMenu* menu = button->menu();
            if (menu->actions().size() != static_cast<qsizetype>(group.chips.size())) {
                menu->clear();
                for (const RowChip& each : group.chips) {
                    QAction* action = menu->addAction(each.word);
                    action->setCheckable(true);
                    connect(action, &QAction::toggled, this, [this, action, id = group.id](bool on) {
                        emit toggled(id, action->data().toString(), on);
                    });
                }
            }
            for (std::size_t i = 0; i < group.chips.size(); ++i) {
                QAction* action = menu->actions()[static_cast<qsizetype>(i)];
                const QSignalBlocker quiet(action);
                action->setText(textOf(group.chips[i]));
                action->setData(group.chips[i].word);
                action->setChecked(group.chips[i].on);
            }
            continue;
        }
        for (const RowChip& each : group.chips) {
            QToolButton* button = chip(group.id, each.word);
            const QSignalBlocker quiet(button);
            button->setText(textOf(each));
            button->setChecked(each.on);
            button->setToolTip(tr("%1 %2: %3 row(s). Click to %4 them", nullptr, static_cast<int>(each.rows))
                                   .arg(group.title, each.word, countText(static_cast<double>(each.rows)),
                                        each.on ? tr("leave out") : tr("count")));
        }
    }
}

void RowChips::build(const std::vector<RowChipGroup>& groups) {
    chips_.clear();
    menus_.clear();
    row_->clear();
    const int unit = Theme::instance().unit();
    for (const RowChipGroup& group : groups) {
        if (group.chips.empty()) continue;
        if (row_->count() > 0) row_->addSpacing(unit * 3 / 2);
        if (group.menu) {
            auto* button = new QToolButton(this);
            button->setObjectName(QStringLiteral("chips.%1").arg(group.id));
            button->setAccessibleName(group.title);
            button->setToolTip(tr("Choose which of these count; each with its number of rows"));
            button->setPopupMode(QToolButton::InstantPopup);
            button->setMenu(new QMenu(button));
            menus_[group.id] = button;
            row_->addWidget(button);
            continue;
        }
        for (const RowChip& each : group.chips) {
            auto* button = new QToolButton(this);
            button->setObjectName(QStringLiteral("chips.%1.%2").arg(group.id, each.word));
            button->setAccessibleName(QStringLiteral("%1 %2").arg(group.title, each.word));
            button->setToolTip(each.word);
            button->setProperty("small", true);
            button->setCheckable(true);
            connect(button, &QToolButton::toggled, this,
                    [this, id = group.id, word = each.word](bool on) { emit toggled(id, word, on); });
            chips_[{group.id, each.word}] = button;
            row_->addWidget(button);
        }
    }
}

}  // namespace orrery::ui
