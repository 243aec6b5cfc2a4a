#pragma once

// What a search must keep, as rows: a quantity, at most or at least, its limit.

#include "app/window/explore/explore_question.h"

#include <QWidget>

#include <string>
#include <vector>

class QComboBox;
class QVBoxLayout;

namespace orrery::app {

class LimitRows : public QWidget {
    Q_OBJECT
public:
    explicit LimitRows(QWidget* parent = nullptr);
    /// `limits`: as readConstraint() takes them.
    void setLimits(const std::vector<std::string>& limits, const std::vector<LimitOffer>& offers);

signals:
    void edited(const std::vector<std::string>& limits, const QString& words);

private:
    void edit(const std::vector<std::string>& limits, const QString& words);
    void showRows();
    void showOffers();

    std::vector<std::string> limits_, drawn_;  ///< as last asked for; as the rows show
    std::vector<LimitOffer> offers_;
    bool shown_ = false;
    QVBoxLayout* rows_ = nullptr;
    QComboBox* add_ = nullptr;
};

/// Its list as wide as its longest entry: names of figures are longer than the form.
void widenList(QComboBox* box);

}  // namespace orrery::app
