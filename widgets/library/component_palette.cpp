#include "widgets/library/component_palette.h"

#include "widgets/common/label.h"
#include "widgets/library/component_palette_model.h"

#include <QLineEdit>
#include <QListView>
#include <QVBoxLayout>

namespace orrery::ui {

ComponentPalette::ComponentPalette(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("componentPalette"));
    model_ = new ComponentPaletteModel(this);
    filter_ = new CardFilter(this);
    filter_->setSourceModel(model_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    search_ = new QLineEdit(this);
    search_->setObjectName(QStringLiteral("componentPalette.search"));
    search_->setAccessibleName(tr("Filter the palette"));
    search_->setPlaceholderText(tr("Filter parts"));
    search_->setToolTip(
        tr("Show parts that match all these words (Enter places the first, ↓ goes to the list, Esc "
           "clears)"));
    search_->setClearButtonEnabled(true);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(8, 8, 8, 4);
    top->addWidget(search_);
    column->addLayout(top);
    list_ = new CardList(this);
    list_->setObjectName(QStringLiteral("componentPalette.list"));
    list_->setAccessibleName(tr("Parts to draw with"));
    list_->setToolTip(tr("Click or press Enter to place a part; or drag it to its place"));
    list_->setModel(filter_);
    list_->setItemDelegate(new ComponentPaletteDelegate(list_));
    column->addWidget(list_, 1);
    auto* empty = new EmptyPage(tr("No such part"), tr("Nothing in the palette matches these words."), {}, this);
    empty_ = empty;
    column->addWidget(empty_, 1);
    empty_->hide();

    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filter_->setWords(text);
        const bool any = filter_->rowCount() > 0;
        list_->setVisible(any);
        empty_->setVisible(!any);
        if (any) list_->setCurrentIndex(filter_->index(0, 0));
    });
    connect(list_, &QListView::clicked, this, &ComponentPalette::choose);
    connect(&Theme::instance(), &Theme::changed, list_, [this] { list_->doItemsLayout(); });
    wireCardKeys(search_, list_, [this](const QModelIndex& index) { choose(index); });
    list_->setCurrentIndex(filter_->index(0, 0));
}

QModelIndex ComponentPalette::indexOf(const QString& id) const {
    const QModelIndexList found =
        filter_->match(filter_->index(0, 0), ComponentPaletteModel::IdRole, id, 1, Qt::MatchExactly);
    return found.isEmpty() ? QModelIndex() : found.front();
}

void ComponentPalette::choose(const QModelIndex& index) {
    if (index.isValid()) emit placeRequested(model_->at(filter_->mapToSource(index).row()).component);
}

}  // namespace orrery::ui
