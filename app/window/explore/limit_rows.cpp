#include "app/window/explore/limit_rows.h"

#include "app/window/explore/explore_text.h"
#include "app/window/form_parts.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"

#include <QAbstractItemView>
#include <QGridLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

/// `Power at most`, `Fits into memory`.
QString limitName(const Constraint& limit) {
    if (limit.quantity.empty()) return LimitRows::tr("Fits into memory");
    if (limit.quantity == "slo") return LimitRows::tr("SLO attainment");
    return (limit.atLeast ? LimitRows::tr("%1 at least") : LimitRows::tr("%1 at most"))
        .arg(objectiveText(limit.quantity));
}

bool hasLimit(const Constraint& limit) {
    return !limit.quantity.empty() && limit.quantity != "slo";
}

std::string limitText(const Constraint& limit, const std::string& value) {
    return limit.quantity + (limit.atLeast ? " >= " : " <= ") + value;
}

}  // namespace

LimitRows::LimitRows(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    const int unit = ui::Theme::instance().unit();
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(unit / 2);
    rows_ = new QVBoxLayout;
    rows_->setSpacing(unit / 2);
    column->addLayout(rows_);
    add_ = namedChoice(this, "explore.limit", tr("Add a constraint"),
                       tr("Limits that every point on the front must meet. A limit starts at the present value"));
    column->addWidget(add_);
    connect(add_, &QComboBox::activated, this, [this](int at) {
        const QVariant offer = add_->itemData(at);
        add_->setCurrentIndex(0);
        if (!offer.isValid()) return;
        std::vector<std::string> next = limits_;
        next.push_back(offers_[static_cast<std::size_t>(offer.toInt())].text);
        const auto read = readConstraint(next.back());
        edit(next, tr("Add the constraint %1").arg(read ? limitName(*read) : ui::qs(next.back())));
    });
}

void LimitRows::setLimits(const std::vector<std::string>& limits, const std::vector<LimitOffer>& offers) {
    const bool same = shown_ && limits == drawn_;
    limits_ = limits;
    offers_ = offers;
    if (!same) showRows();
    showOffers();
    shown_ = true;
}

// The next edit may come before the document has told about this one.
void LimitRows::edit(const std::vector<std::string>& limits, const QString& words) {
    limits_ = limits;
    emit edited(limits, words);
}

void LimitRows::showRows() {
    drawn_ = limits_;
    while (QLayoutItem* item = rows_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const auto limit = readConstraint(limits_[i]);
        const QString name = limit ? limitName(*limit) : ui::qs(limits_[i]);
        auto* row = new QWidget(this);
        auto* grid = new QGridLayout(row);
        grid->setContentsMargins(0, 0, 0, 0);
        grid->setSpacing(4);
        grid->setColumnStretch(0, 1);
        auto* label = new ui::Label(name, ui::FontRole::Body, ui::Tone::Normal, row);
        label->setElided(true);
        grid->addWidget(label, 0, 0);
        if (limit && hasLimit(*limit)) {
            auto* value = named(new ui::ValueEdit(row), "", name, tr("A value with its unit, such as 700 W"));
            value->setObjectName(QStringLiteral("explore.limit.%1").arg(i));
            value->setFixedWidth(static_cast<int>(90 * ui::Theme::instance().scale()));
            value->setClearable(false);
            value->setCheck([own = *limit](const QString& text) -> std::optional<Diagnostic> {
                const auto read = readConstraint(limitText(own, text.toStdString()));
                return read ? std::nullopt : std::optional(read.error());
            });
            value->setStored(ui::qs(limits_[i].substr(limits_[i].find('=') + 1)).trimmed());
            grid->addWidget(value, 0, 1);
            connect(value, &ui::ValueEdit::committed, this, [this, i, own = *limit, name](const QString& text) {
                std::vector<std::string> next = limits_;
                next[i] = limitText(own, text.trimmed().toStdString());
                edit(next, name);
            });
        }
        auto* remove = new ui::IconButton(QStringLiteral("edit-delete"), tr("Remove the constraint %1").arg(name),
                                          QStringLiteral("explore.unlimit.%1").arg(i), row);
        grid->addWidget(remove, 0, 2);
        rows_->addWidget(row);
        connect(remove, &QToolButton::clicked, this, [this, i, name] {
            std::vector<std::string> next = limits_;
            next.erase(next.begin() + static_cast<std::ptrdiff_t>(i));
            edit(next, tr("Remove the constraint %1").arg(name));
        });
    }
}

void LimitRows::showOffers() {
    const QSignalBlocker quiet(add_);
    add_->clear();
    add_->addItem(tr("Add a constraint …"));
    const auto same = [](const Constraint& a, const Constraint& b) {
        return a.quantity == b.quantity && a.atLeast == b.atLeast;
    };
    for (std::size_t i = 0; i < offers_.size(); ++i) {
        const auto offer = readConstraint(offers_[i].text);
        if (!offer || std::ranges::any_of(limits_, [&](const std::string& own) {
                const auto read = readConstraint(own);
                return read && same(*read, *offer);
            }))
            continue;
        add_->addItem(hasLimit(*offer) ? QStringLiteral("%1 %2").arg(limitName(*offer), ui::qs(offers_[i].value))
                                       : limitName(*offer),
                      static_cast<int>(i));
    }
    widenList(add_);
}

void widenList(QComboBox* box) {
    box->view()->setMinimumWidth(std::min(box->view()->sizeHintForColumn(0) + 28, 640));
}

}  // namespace orrery::app
