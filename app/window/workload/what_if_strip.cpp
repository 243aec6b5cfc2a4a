#include "app/window/workload/what_if_strip.h"

#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>

namespace orrery::app {

WhatIfStrip::WhatIfStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("whatIfs"));
    setAccessibleName(tr("What-ifs"));
    auto* outer = new QHBoxLayout(this);
    const int unit = ui::Theme::instance().unit();
    outer->setContentsMargins(unit * 3 / 2, 0, unit, unit / 2);
    row_ = new QHBoxLayout;
    row_->setSpacing(unit);
    outer->addLayout(row_);
    outer->addStretch(1);
    hide();
}

void WhatIfStrip::setWhatIfs(const std::vector<WhatIf>& changes) {
    while (QLayoutItem* item = row_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    setVisible(!changes.empty());
    if (changes.empty()) return;
    row_->addWidget(new ui::Label(tr("What if"), ui::FontRole::Small, ui::Tone::Muted, this));
    constexpr int mostShown = 6;
    const int count = static_cast<int>(changes.size());
    for (int i = 0; i < std::min(count, mostShown); ++i) {
        const QString text = ui::qs(toText(changes[static_cast<std::size_t>(i)]));
        auto* label = new ui::Label({}, ui::FontRole::Body, ui::Tone::Accent, this);
        label->setElided(true);
        label->setFullText(text);
        label->setMaximumWidth(ui::Theme::instance().unit() * 30);
        auto* button = new ui::IconButton(QStringLiteral("window-close"), tr("Take back: %1").arg(text),
                                          QStringLiteral("whatIfRemove%1").arg(i), this);
        button->setToolTip(tr("Take back: %1").arg(text));
        connect(button, &QToolButton::clicked, this, [this, i] { Q_EMIT removed(i); });
        row_->addWidget(label);
        row_->addWidget(button);
    }
    if (count > mostShown)
        row_->addWidget(
            new ui::Label(tr("and %1 more").arg(count - mostShown), ui::FontRole::Small, ui::Tone::Muted, this));
    if (count > 1) {
        auto* all = new QPushButton(tr("Take all back"), this);
        all->setObjectName(QStringLiteral("whatIfClear"));
        all->setAccessibleName(tr("Take all what-ifs back"));
        all->setToolTip(tr("Show the workload as it was loaded"));
        all->setFlat(true);
        connect(all, &QPushButton::clicked, this, &WhatIfStrip::cleared);
        row_->addWidget(all);
    }
}

}  // namespace orrery::app
